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
