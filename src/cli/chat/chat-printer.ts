import type { ChatSink } from './chat-client.ts';

const DIM = '\u001b[2m';
const NORMAL = '\u001b[22m';
/** All control characters but line feed and tab: a model's text must not command the reader's terminal. */
const CONTROL = /(?![\n\t])\p{Cc}/gu;

/** Where an answer is printed. */
export interface AnswerOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

/** Prints an answer as it comes: reasoning dimmed on a terminal and left out elsewhere, then the text. */
export function createAnswerPrinter(stdout: AnswerOutput): ChatSink & { end(): void } {
  let isReasoning = false;
  let wroteText = false;
  const stopReasoning = (): void => {
    if (isReasoning) stdout.write(`${NORMAL}\n`);
    isReasoning = false;
  };
  return {
    onReasoning(text) {
      if (!stdout.isTTY) return;
      if (!isReasoning) stdout.write(DIM);
      isReasoning = true;
      stdout.write(text.replace(CONTROL, ''));
    },
    onText(text) {
      stopReasoning();
      wroteText = true;
      stdout.write(stdout.isTTY ? text.replace(CONTROL, '') : text);
    },
    end() {
      stopReasoning();
      if (wroteText) stdout.write('\n');
    },
  };
}
