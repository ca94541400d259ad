import type { Principal } from '../accounts/principal.ts';
import { GatewayError } from '../canonical/gateway-error.ts';
import type { ServerTool } from '../canonical/request.ts';
import { ShellError, type KeptShell } from '../canonical/tools/shell.ts';

const SHELLS: ReadonlySet<string> = new Set(['service:bash', 'service:shell']);
/** An id has at most 20 characters. */
const ID_CHARS = 16;
const CHECK_MS = 20_000;

/** The container of an agent. */
export function containerOf(internId: string): string {
  return `int_${internId.replaceAll('-', '').slice(0, ID_CHARS)}`;
}

export function isShell({ name }: Pick<ServerTool, 'name'>): boolean {
  return SHELLS.has(name);
}

/** Makes the container of an agent that has a shell, and runs a command in it. @throws GatewayError 503 when that fails */
export async function startContainer(
  containers: KeptShell | undefined,
  owner: Principal,
  internId: string,
  tools: readonly ServerTool[],
): Promise<void> {
  // Without containers the tools themselves are refused, which says how to turn them on.
  if (containers === undefined || !tools.some(isShell)) return;
  const signal = AbortSignal.timeout(CHECK_MS);
  const call = { owner, containerId: containerOf(internId), commands: ['true'], restart: false, signal };
  try {
    const [output] = await containers.run(call);
    if (output?.exitCode === 0) return;
  } catch (error) {
    if (!(error instanceof ShellError)) throw error;
    throw new GatewayError('provider_overloaded', `The container does not start: ${error.message}`, { cause: error });
  }
  throw new GatewayError(
    'provider_overloaded',
    'The container does not start: a command that does nothing fails in it.',
  );
}
