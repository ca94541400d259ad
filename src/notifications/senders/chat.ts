import type { Message } from '../message.ts';
import { resultOf, type Call, type Send } from './sender.ts';

/** What makes a mention is followed by a character without width. */
const BREAK = '\u200B';

type Encode = (message: Message) => object;

/** Sends to the incoming webhook of a chat: its address is its secret. */
export function createChatSender({ post }: Call, encode: Encode): Send {
  return async (message, { config, signal, nowMs }) => {
    const outcome = await post(
      {
        url: config.url ?? '',
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify(encode(message)),
      },
      { signal },
    );
    return resultOf(outcome, nowMs);
  };
}

/** @source Slack, "Formatting text for app surfaces": `&`, `<` and `>` are escaped, and nothing else makes a mention */
export function encodeSlack(message: Message): object {
  const escape = (text: string): string =>
    neutral(text).replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;');
  const link = message.link === null ? '' : `\n<${message.link}|Open the dashboard>`;
  return { text: `*${escape(message.title)}*\n${escape(message.text)}${link}`, unfurl_links: false };
}

export function encodeMattermost(message: Message): object {
  return { text: `**${plain(message.title)}**\n${plain(message.text)}${linkLine(message)}` };
}

const DISCORD_CHARS_MAX = 1_900;

/** @source Discord, "Allowed Mentions Object": an empty `parse` lets nothing mention */
export function encodeDiscord(message: Message): object {
  const text = `**${plain(message.title)}**\n${plain(message.text)}`.slice(0, DISCORD_CHARS_MAX);
  return { content: `${text}${linkLine(message)}`, allowed_mentions: { parse: [] } };
}

/** Of a message of a workflow, which has at most 28 kB. */
const TEAMS_CHARS_MAX = 6_000;
const TEAMS_COLORS: Readonly<Record<Message['severity'], string>> = {
  info: 'Default',
  warning: 'Warning',
  critical: 'Attention',
};

/**
 * For a workflow of Microsoft Teams that posts what a webhook receives. Texts of a `RichTextBlock` are no Markdown, and nothing
 * is a mention without an entity that says so.
 * @source learn.microsoft.com "Create and send messages" (webhooks by workflows) and "Create an Incoming Webhook";
 * adaptivecards.io, `RichTextBlock` and `TextRun`, read 2026-11
 */
export function encodeTeams({ title, text, severity, link }: Message): object {
  const block = (run: object): object => ({ type: 'RichTextBlock', inlines: [{ type: 'TextRun', ...run }] });
  const content = {
    $schema: 'http://adaptivecards.io/schemas/adaptive-card.json',
    type: 'AdaptiveCard',
    version: '1.4',
    body: [
      block({ text: unmarked(title), weight: 'Bolder', color: TEAMS_COLORS[severity] }),
      block({ text: unmarked(text.slice(0, TEAMS_CHARS_MAX)) }),
    ],
    ...(link !== null && { actions: [{ type: 'Action.OpenUrl', title: 'Open the dashboard', url: link }] }),
  };
  return {
    type: 'message',
    attachments: [{ contentType: 'application/vnd.microsoft.card.adaptive', contentUrl: null, content }],
  };
}

/** Functions for dates, and tags of mentions, are read in any text of a card. */
function unmarked(text: string): string {
  return neutral(text)
    .replaceAll('{{', `{${BREAK}{`)
    .replaceAll(/<(?=\/?at>)/gi, `<${BREAK}`);
}

function linkLine({ link }: Message): string {
  return link === null ? '' : `\n${link}`;
}

/** Names hold what their owners chose: it is no formatting, and mentions nothing. */
function plain(text: string): string {
  return neutral(text).replaceAll(/[\\`*_~|<>[\]()#]/g, (sign) => `\\${sign}`);
}

function neutral(text: string): string {
  return text.replaceAll('@', `@${BREAK}`).replaceAll('<!', `<${BREAK}!`);
}
