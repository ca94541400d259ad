import type { Transporter } from 'nodemailer';
import { namesVault, VaultError, type FillSecrets } from '../../canonical/vault-reference.ts';
import type { SmtpSettings } from '../settings.ts';
import type { Message } from '../message.ts';
import type { Send, SendResult } from './sender.ts';

/** Mails of all channels share these connections. */
const CONNECTIONS_MAX = 2;
const CONNECT_MS_MAX = 10_000;
const SILENT_MS_MAX = 20_000;
const PERMANENT = 500;

export interface MailSender {
  readonly send: Send;
  /** Logs in without sending anything. @returns why mail would not leave; `undefined`: it would */
  check(): Promise<string | undefined>;
  close(): void;
}

/**
 * Sends one mail a recipient by the operator's server. The library is loaded with the first one.
 * @param fill of a password that names a secret of the vault; another value counts with the next mail
 */
export function createMailSender(settings: SmtpSettings, fill: FillSecrets): MailSender {
  let open: { readonly password: string | undefined; readonly transport: Promise<Transporter> } | undefined;
  async function connect(): Promise<Transporter> {
    const password = await passwordOf(settings, fill);
    if (open !== undefined && open.password === password) return open.transport;
    const before = open;
    open = { password, transport: openTransport(settings, password) };
    void before?.transport.then((transport) => transport.close());
    return open.transport;
  }
  return {
    async send(message, { channel, done, onDone, signal }) {
      const left = (channel.recipients ?? []).filter((recipient) => !done.includes(recipient));
      let failure: SendResult | undefined;
      for (const recipient of left) {
        if (signal.aborted) throw signal.reason;
        try {
          await (await connect()).sendMail(mailOf(settings.from, recipient, message));
        } catch (error) {
          failure = failureOf(error);
          continue;
        }
        // Its failure is the job's: one that was lost sends nothing more.
        await onDone(recipient);
      }
      return failure ?? { isSent: true, status: null };
    },
    async check() {
      try {
        await (await connect()).verify();
        return undefined;
      } catch (error) {
        const failed = failureOf(error);
        return failed.isSent ? undefined : failed.error;
      }
    },
    close() {
      void open?.transport.then((transport) => transport.close());
    },
  };
}

/** @throws VaultError */
async function passwordOf(
  { host, port, plain, password }: SmtpSettings,
  fill: FillSecrets,
): Promise<string | undefined> {
  if (password === undefined || !namesVault(password)) return password;
  const url = `${plain ? 'smtp' : 'smtps'}://${host}:${port}`;
  return (await fill({ password }, { url, caller: 'notifications:smtp', isKept: true })).texts['password'];
}

async function openTransport(
  { host, port, secure, plain, user }: SmtpSettings,
  password: string | undefined,
): Promise<Transporter> {
  const { createTransport } = await import('nodemailer');
  return createTransport({
    host,
    port,
    secure,
    requireTLS: !secure && !plain,
    pool: true,
    maxConnections: CONNECTIONS_MAX,
    connectionTimeout: CONNECT_MS_MAX,
    greetingTimeout: CONNECT_MS_MAX,
    socketTimeout: SILENT_MS_MAX,
    disableFileAccess: true,
    disableUrlAccess: true,
    // Without it a server that offers no login is sent the mail all the same, as from anyone.
    ...(user !== undefined && { auth: { user, pass: password ?? '' }, forceAuth: true }),
  });
}

function mailOf(from: string, to: string, message: Message) {
  const { id, title, text, link } = message;
  const domain = /@([^\s>]+)/.exec(from)?.[1] ?? 'localhost';
  const footer = link === null ? '' : `\n\n${link}`;
  return {
    from,
    // An object: a text may name several recipients.
    to: { name: '', address: to },
    subject: title,
    text: `${text}${footer}\n`,
    html: htmlOf(message),
    messageId: `<${id}@${domain}>`,
    headers: {
      'Auto-Submitted': 'auto-generated',
      'List-Id': `Notifications of the gateway <notifications.${domain}>`,
    },
    disableFileAccess: true,
    disableUrlAccess: true,
  };
}

function htmlOf({ title, text, link }: Message): string {
  const button = link === null ? '' : `<p><a href="${escapeHtml(link)}">Open the dashboard</a></p>`;
  return `<p><strong>${escapeHtml(title)}</strong></p><p>${escapeHtml(text).replaceAll('\n', '<br>')}</p>${button}`;
}

function escapeHtml(text: string): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", '&#39;');
}

function failureOf(error: unknown): SendResult {
  if (error instanceof VaultError) return { isSent: false, status: null, error: error.message, kind: 'away' };
  const code = error instanceof Error && 'responseCode' in error ? Number(error.responseCode) : null;
  // What a server says may hold anything, the login too: its code is enough.
  const cause = error instanceof Error && 'code' in error ? String(error.code) : '';
  const shown =
    cause === 'EAUTH' ? loginFault(code) : code === null ? reasonOf(cause) : `The mail server answered with ${code}.`;
  return { isSent: false, status: code, error: shown, kind: code !== null && code >= PERMANENT ? 'refused' : 'away' };
}

/** Answers to a login itself; others are of servers that know none. @source RFC 4954, 6 */
const LOGIN_REFUSALS: ReadonlySet<number | null> = new Set([432, 454, 530, 534, 535, 538]);

function loginFault(code: number | null): string {
  if (LOGIN_REFUSALS.has(code)) return `The mail server refused the login with ${code}.`;
  return 'The mail server offers no login (AUTH), but notifications.smtp.user is set: use the port for clients, or leave out user and password.';
}

function reasonOf(code: string): string {
  switch (code) {
    case 'ETLS':
      return 'The mail server offers no TLS: notifications.smtp.plain lets mail go without it.';
    case 'ETIMEDOUT':
      return 'The mail server took too long.';
    default:
      return 'The mail server could not be reached.';
  }
}
