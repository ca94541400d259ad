import { createHash } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { ShellError, type KeptShell, type ShellOutput, type ShellOwner } from '../../canonical/tools/shell.ts';
import type { Check } from '../../resources/evaluations.ts';
import type { DatasetItem } from '../dataset/item.ts';

export type CommandCheck = Extract<Check, { readonly type: 'command' }>;

/** Runs the command of a check over an answer. Null: it did not run. */
export type RunCommand = (check: CommandCheck) => Promise<number | null>;

export interface CommandCheckInput {
  readonly containers: KeptShell | undefined;
  readonly owner: ShellOwner;
  /** Names the answer among all. */
  readonly key: string;
  readonly item: Pick<DatasetItem, 'expected'>;
  readonly answer: string;
  readonly signal: AbortSignal;
}

const TIMEOUT_S = 60;
const ID_CHARS = 16;
const MS_PER_S = 1_000;
/** As many calls run at a time as a workspace may have: others wait. */
const BUSY_PAUSE_MS = 250;
const BUSY_MS_MAX = 120_000;

/**
 * A check runs in a container of its own, which is there for it alone: `answer.txt` and, where there is one, `expected.json`
 * are in its home. The score is 1 where the command ends with 0.
 */
export function createRunCommand({ containers, owner, key, item, answer, signal }: CommandCheckInput): RunCommand {
  return async ({ command, timeout_s: timeoutS = TIMEOUT_S }) => {
    if (containers === undefined) return null;
    const containerId = `chk_${createHash('sha256').update(`${key}\n${command}`).digest('hex').slice(0, ID_CHARS)}`;
    const commands = [fileOf('answer.txt', answer), ...expectedFile(item), command];
    const call = { owner, containerId, commands, restart: false, timeoutMs: timeoutS * MS_PER_S, signal };
    try {
      const output = (await runWhenFree(containers, call)).at(-1);
      if (output === undefined || output.stopped === 'aborted') return null;
      return Number(output.exitCode === 0);
    } catch (error) {
      if (error instanceof ShellError) return null;
      throw error;
    } finally {
      await containers.removeContainer(owner, containerId);
    }
  };
}

async function runWhenFree(
  containers: KeptShell,
  call: Parameters<KeptShell['run']>[0],
): Promise<readonly ShellOutput[]> {
  for (let waitedMs = 0; ; waitedMs += BUSY_PAUSE_MS)
    try {
      return await containers.run(call);
    } catch (error) {
      const isBusy = error instanceof ShellError && error.code === 'too_many_requests';
      if (!isBusy || waitedMs >= BUSY_MS_MAX || call.signal.aborted) throw error;
      await sleep(BUSY_PAUSE_MS, undefined, { signal: call.signal }).catch(() => undefined);
    }
}

function expectedFile({ expected }: CommandCheckInput['item']): readonly string[] {
  return expected === undefined ? [] : [fileOf('expected.json', JSON.stringify(expected))];
}

/** Whatever the text is: nothing of it is read as a command. */
function fileOf(name: string, text: string): string {
  return `printf %s '${Buffer.from(text).toString('base64')}' | base64 -d > /home/agent/${name}`;
}
