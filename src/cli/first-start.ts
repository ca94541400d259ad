import type { FirstKeys } from '../accounts/keys/keys.ts';

const BODY = '{"model":"sandbox/echo","messages":[{"role":"user","content":"Hello, gateway!"}]}';

/** The output of the first start: both keys, and one ready-to-run shell command. */
export function formatFirstStart(url: string, { managementKey, apiKey }: FirstKeys): string {
  return `
This is the first start. Keep these two keys; they are not shown again.
  Management key: ${managementKey}
  API key:        ${apiKey}

Try it:
curl -s ${callableUrl(url)}/v1/chat/completions -H 'Authorization: Bearer ${apiKey}' -H 'Content-Type: application/json' -d '${BODY}'
`;
}

/** An address that listens everywhere is none that can be called everywhere. */
function callableUrl(url: string): string {
  const parsed = new URL(url);
  if (parsed.hostname === '0.0.0.0') parsed.hostname = '127.0.0.1';
  if (parsed.hostname === '[::]') parsed.hostname = '[::1]';
  return parsed.origin;
}
