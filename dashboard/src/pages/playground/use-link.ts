import { useNavigate, useRouterState } from '@tanstack/react-router';
import { useEffect, useRef, useState } from 'react';
import { saidIn, type Conversation, type Thread } from './conversation.ts';
import { decodeLink, encodeLink, type Linked } from './link.ts';
import type { Settings } from './request/settings.ts';

interface Link {
  /** Whether the conversation is too long for the address. */
  readonly isTooLong: boolean;
  /** The next state gets an entry of its own: going back shows the conversation as it was. */
  readonly branch: () => void;
}

/** Keeps the conversation in the fragment of the address, which no server sees. */
export function useLink(
  { threads, restore }: Conversation,
  settings: Settings,
  setSettings: (settings: Settings) => void,
): Link {
  const hash = useRouterState({ select: ({ location }) => location.hash });
  const navigate = useNavigate();
  /** The fragment whose conversation the page shows. */
  const shown = useRef('');
  const isBranch = useRef(false);
  const [isTooLong, setIsTooLong] = useState(false);
  const content = contentOf(threads, settings);
  const written = useRef(content);

  const show = async (link: string): Promise<void> => {
    shown.current = link;
    const found = await decodeLink(link);
    // An anchor of the page, such as the link that skips to the content, is no conversation.
    if (shown.current !== link || (found === undefined && link !== '')) return;
    setSettings(found?.settings ?? settings);
    restore(found?.threads ?? []);
  };
  const write = async (): Promise<void> => {
    written.current = content;
    const encoded = await encodeLink(linkedOf(threads, settings));
    if (written.current !== content) return;
    setIsTooLong(encoded === undefined);
    const link = encoded ?? '';
    if (link === shown.current) return;
    shown.current = link;
    const replace = !isBranch.current;
    isBranch.current = false;
    void navigate({ to: '.', search: true, hash: link, replace, hashScrollIntoView: false });
  };
  // The address alone decides what is shown: what is typed meanwhile makes these functions anew.
  /* eslint-disable react-hooks/exhaustive-deps */
  useEffect(() => {
    if (hash !== shown.current) void show(hash);
  }, [hash]);
  useEffect(() => {
    // Nothing is written as the page opens: the address may hold a conversation that is not read yet.
    if (content !== undefined && content !== written.current) void write();
  }, [content]);
  /* eslint-enable react-hooks/exhaustive-deps */

  return { isTooLong, branch: () => void (isBranch.current = true) };
}

/** Changes with what a link holds; undefined while a response grows. */
function contentOf(threads: readonly Thread[], settings: Settings): string | undefined {
  return threads.some(({ isRunning }) => isRunning) ? undefined : JSON.stringify(linkedOf(threads, settings));
}

/** The preset stands in the query. */
function linkedOf(threads: readonly Thread[], settings: Settings): Linked {
  return { settings: { ...settings, preset: '' }, threads: threads.map(toSaid) };
}

function toSaid(thread: Thread): Linked['threads'][number] {
  const said = saidIn(thread);
  // A question that has no answer was said all the same.
  return said.length < thread.messages.length ? thread.messages : said;
}
