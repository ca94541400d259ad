import { readToken, reportUnauthorized } from '../transport.ts';
import type { LiveFilters, LiveMessage, PageMessage } from './messages.ts';
// The build makes the address of the script its default export.
// eslint-disable-next-line import/default
import WORKER_URL from './worker.ts?sharedworker&url';

/** A page that is not looked at for so long watches no more, until it is. */
const HIDDEN_MS_MAX = 60_000;
/** A view that was left misses what happened meanwhile. */
const GAP: LiveMessage = { kind: 'gap', missed: undefined };

declare global {
  interface Window {
    /** Not in every browser. */
    readonly trustedTypes?: {
      createPolicy(
        name: string,
        rules: { readonly createScriptURL: (url: string) => string },
      ): { createScriptURL(url: string): string };
    };
  }
}

/** The one policy of the pages: it can name this worker, and makes no HTML and no script. */
const policy = window.trustedTypes?.createPolicy('gateway-worker', {
  createScriptURL(url) {
    if (url !== WORKER_URL) throw new TypeError(`${url} is no worker of the dashboard.`);
    return url;
  },
});

/** Without it pages read lists again every few seconds. */
export function canWatchLive(): boolean {
  return typeof SharedWorker === 'function';
}

/** Gives what happens as it happens, through the one worker of all tabs. @returns what ends it */
export function watchLive(filters: LiveFilters, onMessage: (message: LiveMessage) => void): () => void {
  const url = policy?.createScriptURL(WORKER_URL) ?? WORKER_URL;
  const { port } = new SharedWorker(url, { type: 'module', name: 'gateway-live' });
  let isWatching = false;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const post = (message: PageMessage): void => port.postMessage(message);
  const watch = (): void => {
    isWatching = true;
    post({ kind: 'watch', token: readToken() ?? '', filters });
  };
  const leave = (): void => {
    isWatching = false;
    post({ kind: 'leave' });
  };
  const onVisibility = (): void => {
    clearTimeout(timer);
    if (document.hidden) timer = setTimeout(leave, HIDDEN_MS_MAX);
    else if (!isWatching) {
      onMessage(GAP);
      watch();
    }
  };
  port.addEventListener('message', ({ data }: MessageEvent<LiveMessage>) => {
    if (data.kind === 'state' && data.status === 401) reportUnauthorized();
    onMessage(data);
  });
  port.start();
  watch();
  document.addEventListener('visibilitychange', onVisibility);
  window.addEventListener('pagehide', leave);
  // A page that comes back from the cache of the browser.
  window.addEventListener('pageshow', onVisibility);
  return () => {
    clearTimeout(timer);
    document.removeEventListener('visibilitychange', onVisibility);
    window.removeEventListener('pagehide', leave);
    window.removeEventListener('pageshow', onVisibility);
    leave();
    port.close();
  };
}
