/**
 * What a request is about. The part before the colon is its group; tags without one are general.
 * @source the tags of the reference's rankings page, as of 2026-06-28
 */
export const TASK_TAGS = [
  'code:general_impl',
  'code:debugging',
  'code:file_read_write',
  'code:frontend_ui',
  'code:review_security',
  'code:shell_execution',
  'code:repo_scan',
  'code:sql_database',
  'code:devops_config',
  'agent:workflow_execution',
  'agent:multi_step_planning',
  'agent:tool_dispatch',
  'agent:memory_extraction',
  'agent:web_search',
  'data:extraction',
  'data:transformation',
  'classification_tagging',
  'content_writing',
  'qa_knowledge',
  'conversational_reply',
  'roleplay_fiction',
  'customer_support',
  'summarization',
  'image_prompting',
  'research_report',
  'finance_trading',
  'translation',
  'math',
  'security_audit',
  'devops',
  'other',
] as const;

export type TaskTag = (typeof TASK_TAGS)[number];

export function isTaskTag(text: string): text is TaskTag {
  return TASK_TAGS.some((tag) => tag === text);
}

export type TaskGroup = 'code' | 'agent' | 'data' | 'general';

export function groupOf(tag: TaskTag): TaskGroup {
  if (tag.startsWith('code:')) return 'code';
  if (tag.startsWith('agent:')) return 'agent';
  return tag.startsWith('data:') ? 'data' : 'general';
}
