import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createAnswerPrinter } from './chat-printer.ts';

function print(isTTY: boolean, run: (printer: ReturnType<typeof createAnswerPrinter>) => void): string {
  let printed = '';
  run(createAnswerPrinter({ isTTY, write: (text) => (printed += text) }));
  return printed;
}

test('dims reasoning on a terminal and separates it from the text', () => {
  const printed = print(true, (printer) => {
    printer.onReasoning('let me ');
    printer.onReasoning('see');
    printer.onText('Yes');
    printer.onText('.');
    printer.end();
  });
  assert.equal(printed, '\u001b[2mlet me see\u001b[22m\nYes.\n');
});

test('prints only the text elsewhere, to the letter', () => {
  const printed = print(false, (printer) => {
    printer.onReasoning('let me see');
    printer.onText('a\u001b[31mb');
    printer.end();
  });
  assert.equal(printed, 'a\u001b[31mb\n');
});

test('lets no model command the terminal', () => {
  const printed = print(true, (printer) => printer.onText('a\u001b]0;title\u0007b\u009b2J\r\n\tc'));
  assert.equal(printed, 'a]0;titleb2J\n\tc');
});

test('prints nothing for an empty response', () => {
  assert.equal(
    print(true, (printer) => printer.end()),
    '',
  );
});

test('leaves the terminal undimmed when a response breaks off in its reasoning', () => {
  const printed = print(true, (printer) => {
    printer.onReasoning('hm');
    printer.end();
  });
  assert.equal(printed, '\u001b[2mhm\u001b[22m\n');
});
