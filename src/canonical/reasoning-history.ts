/** How the reasoning of earlier turns goes back to an upstream of the chat format. */
export type ReasoningHistory = 'none' | 'reasoning_content' | 'reasoning' | 'think_tags';
