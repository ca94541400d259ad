import { startSandbox } from '../../src/providers/sandbox/server.ts';
import { startGateway, type GatewayOptions, type RunningGateway } from './gateway.ts';

/** Slug prefixes of one and the same sandbox: the gateway's own, and behind a plain host's adapter or a vendor's. */
export const OWN = 'sandbox';
export const CHAT_ONLY = 'chat-only';
export const MESSAGES_ONLY = 'messages-only';
export const MESSAGES_VENDOR = 'messages-vendor';

/**
 * A gateway whose sandbox is also behind ordinary providers that speak one format each, so that every client can be
 * tested across formats: `chat-only/echo`, `messages-only/tools`.
 */
export async function startBothFormats(options: Pick<GatewayOptions, 'env'> = {}): Promise<RunningGateway> {
  const sandbox = await startSandbox({ host: '127.0.0.1', port: 0 });
  const gateway = await startGateway({
    ...options,
    yaml: `
providers:
  chatty: { adapter: openai-compatible, name: Chatty, base_url: "${sandbox.baseUrl}", api_key: upstream-secret-1 }
  wordy: { adapter: messages-compatible, name: Wordy, base_url: "${sandbox.baseUrl}", api_key: upstream-secret-2 }
  wordy-vendor: { adapter: anthropic, name: Wordy Vendor, base_url: "${sandbox.baseUrl}", api_key: upstream-secret-3 }
models:
  "${CHAT_ONLY}/*": { provider: chatty }
  "${MESSAGES_ONLY}/*": { provider: wordy }
  "${MESSAGES_VENDOR}/*": { provider: wordy-vendor }
`,
  });
  return {
    ...gateway,
    async close() {
      await gateway.close();
      await sandbox.close();
    },
  };
}
