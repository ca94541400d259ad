import { startSandbox } from '../../src/sandbox/server.ts';
import { postTo, startGateway, type GatewayOptions, type RunningGateway } from './gateway.ts';

/** Slug prefixes of one and the same sandbox: the gateway's own, and behind a plain host's adapter or a vendor's. */
export const OWN = 'sandbox';
export const CHAT_ONLY = 'chat-only';
export const MESSAGES_ONLY = 'messages-only';
export const MESSAGES_VENDOR = 'messages-vendor';

/** Names a gateway that runs already, by its address, for the tests to use in place of one of their own. */
export const RUNNING_GATEWAY = 'TEST_GATEWAY_URL';

/**
 * A gateway whose sandbox is also behind ordinary providers that speak one format each, so that every client can be
 * tested across formats: `chat-only/echo`, `messages-only/tools`.
 */
export async function startBothFormats(
  options: Pick<GatewayOptions, 'env'> = {},
): Promise<Pick<RunningGateway, 'url' | 'baseUrl' | 'post' | 'close'>> {
  const url = process.env[RUNNING_GATEWAY];
  if (url !== undefined) {
    const baseUrl = `${url}/v1`;
    return { url, baseUrl, post: postTo(baseUrl), close: () => Promise.resolve() };
  }
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const gateway = await startGateway({ ...options, yaml: configureBothFormats(sandbox.baseUrl) });
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await sandbox.close();
    },
  };
}

/** The configuration of such a gateway. */
export function configureBothFormats(sandboxUrl: string): string {
  return `
providers:
  chatty: { adapter: openai-compatible, name: Chatty, base_url: "${sandboxUrl}", api_key: upstream-secret-1 }
  wordy: { adapter: messages-compatible, name: Wordy, base_url: "${sandboxUrl}", api_key: upstream-secret-2 }
  wordy-vendor: { adapter: anthropic, name: Wordy Vendor, base_url: "${sandboxUrl}", api_key: upstream-secret-3 }
models:
  "${CHAT_ONLY}/*": { provider: chatty }
  "${MESSAGES_ONLY}/*": { provider: wordy }
  "${MESSAGES_VENDOR}/*": { provider: wordy-vendor }
`;
}
