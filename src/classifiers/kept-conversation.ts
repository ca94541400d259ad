import type { Policy } from '../accounts/policy/policy.ts';
import type { Block } from '../canonical/blocks.ts';
import type { Turn } from '../canonical/request.ts';
import { transcriptOf } from '../decisions/transcript.ts';
import { isJsonObject, type Json, type JsonObject } from '../lib/json.ts';
import type { PolicySubject } from '../store/accounts/policy-layers.ts';
import type { GenerationRow } from '../store/generations/columns.ts';
import type { GenerationContent } from '../telemetry/serialize-content.ts';
import { contentRulesOf, STRICTEST, type ContentRules } from './content-rules.ts';

/** The conversation of a stored generation, as a classifier reads it. */
export interface KeptConversation {
  readonly transcript: string;
  /** Of the request. */
  readonly turns: number;
  readonly rules: ContentRules;
}

export interface KeptDeps {
  readonly readContent: (generationId: string) => Promise<GenerationContent | undefined>;
  readonly policyOf: (subject: PolicySubject) => Policy | Promise<Policy>;
}

/** @returns `undefined` where the content was not kept, or cannot be opened */
export async function readConversation(
  { readContent, policyOf }: KeptDeps,
  row: GenerationRow,
): Promise<KeptConversation | undefined> {
  const content = await readContent(row.id);
  if (content === undefined) return undefined;
  const { input, output, privacy } = content;
  const policy = await policyOf(row);
  // Of content that an earlier version kept it is not known what its request demanded.
  const rules =
    privacy === undefined
      ? STRICTEST
      : contentRulesOf({ zdr: privacy.zdr, dataCollection: privacy.data_collection }, policy);
  const reply: Turn = {
    role: 'assistant',
    blocks: [...textOf(output.completion), ...(output.tool_calls ?? []).map(callOf)],
  };
  const turns = input.messages.map(turnOf);
  return { transcript: transcriptOf([...turns, reply], 'names'), turns: turns.length, rules };
}

const MEDIA = ['image', 'audio', 'video', 'document'] as const;
const ROLES = ['system', 'developer', 'user', 'assistant', 'tool'] as const;

function turnOf({ role, content }: JsonObject): Turn {
  return {
    role: ROLES.find((known) => known === role) ?? 'user',
    blocks: Array.isArray(content) ? content.flatMap(blocksOf) : textOf(content),
  };
}

function textOf(text: Json | undefined): Block[] {
  return typeof text === 'string' && text !== '' ? [{ type: 'text', text }] : [];
}

/** What `serializeContent` wrote of a block. What a tool returned and what a model thought is not read. */
function blocksOf(stored: Json): Block[] {
  if (!isJsonObject(stored)) return [];
  const { type, text } = stored;
  if (type === 'text' || type === 'refusal' || type === 'other') return textOf(text);
  if (type === 'tool_call') return [callOf(stored)];
  const media = MEDIA.find((kind) => kind === type);
  return media === undefined ? [] : textOf(`[${media}]`);
}

function callOf({ id, name }: JsonObject): Block {
  const text = (value: Json | undefined): string => (typeof value === 'string' ? value : '');
  return { type: 'tool-call', id: text(id), name: text(name), input: '', runBy: 'caller' };
}
