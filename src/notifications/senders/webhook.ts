import { createHmac, randomBytes } from 'node:crypto';
import type { Message } from '../message.ts';
import { resultOf, type Call, type ChannelConfig, type Send } from './sender.ts';

const SECRET_BYTES = 32;
const PREFIX = 'whsec_';
const MS_PER_S = 1_000;
/** Receivers of the scheme expect no more. */
const BODY_BYTES_MAX = 20_000;

export function newWebhookSecret(): string {
  return `${PREFIX}${randomBytes(SECRET_BYTES).toString('base64')}`;
}

/** @source Standard Webhooks, specification 1.0, "Webhook Headers" and "Signature scheme" */
export function createWebhookSender({ post }: Call): Send {
  return async (message, { config, signal, nowMs }) => {
    const body = bodyOf(message);
    const outcome = await post(
      {
        url: config.url ?? '',
        method: 'POST',
        headers: { 'content-type': 'application/json', ...signatureHeaders(config, message.id, body, nowMs) },
        body,
      },
      { signal },
    );
    return resultOf(outcome, nowMs);
  };
}

function signatureHeaders(
  { secret, previous }: ChannelConfig,
  id: string,
  body: string,
  nowMs: number,
): Readonly<Record<string, string>> {
  const seconds = Math.floor(nowMs / MS_PER_S);
  const secrets = [secret, previous !== undefined && previous.untilMs > nowMs ? previous.secret : undefined];
  const signatures = secrets.flatMap((each) => (each === undefined ? [] : [sign(each, `${id}.${seconds}.${body}`)]));
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    ...(signatures.length > 0 && { 'webhook-signature': signatures.join(' ') }),
  };
}

function sign(secret: string, text: string): string {
  const key = Buffer.from(secret.slice(PREFIX.length), 'base64');
  return `v1,${createHmac('sha256', key).update(text).digest('base64')}`;
}

function bodyOf(message: Message): string {
  const { type, atMs, severity, subject, workspaceId, title, text, values, link } = message;
  const data = { severity, subject, workspace_id: workspaceId, title, text, values, link };
  const body = JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data });
  if (Buffer.byteLength(body) <= BODY_BYTES_MAX) return body;
  // A digest of long names: its title says how many there are.
  const short = { ...data, text: title, values: {} };
  return JSON.stringify({ type, timestamp: new Date(atMs).toISOString(), data: short });
}
