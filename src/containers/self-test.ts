import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { CommandLimits, ContainerRuntime } from './contract.ts';

/** Each attempt to break out prints these lines when, and only when, it found nothing. */
interface Attempt {
  readonly name: string;
  readonly command: string;
  readonly holds: (outcome: { readonly stdout: string; readonly exitCode: number }) => boolean;
  readonly limits?: Partial<CommandLimits>;
}

const MB = 1_048_576;
const KILLED = 137;
const LIMITS: CommandLimits = {
  memoryBytes: 64 * MB,
  cpus: 1,
  processes: 32,
  diskBytes: 16 * MB,
  commandMs: 5_000,
  outputBytes: 4_096,
};

/** @param port at which the gateway listens */
function attempts(dataDir: string, port: number): readonly Attempt[] {
  const path = JSON.stringify(dataDir);
  return [
    {
      name: 'reads files of the host',
      command: `for f in /etc/shadow ${path} /sys/fs/cgroup /run/systemd; do [ -e "$f" ] && echo "sees $f"; done; echo end`,
      holds: ({ stdout }) => stdout === 'end\n',
    },
    {
      name: "reads the gateway's environment",
      command:
        'for f in /proc/[0-9]*/environ; do while IFS= read -r -d "" v; do case $v in *SECRET*|*GATEWAY*|*_KEY=*|*DATABASE*) echo "$v";; esac; done < "$f"; done 2> /dev/null; echo end',
      holds: ({ stdout }) => stdout === 'end\n',
    },
    {
      name: 'has rights, or may gain some',
      command:
        'while read -r key value; do case $key in CapEff:|CapPrm:|CapBnd:|NoNewPrivs:|Seccomp:) echo "$key$value";; esac; done < /proc/self/status; read -r n < /proc/sys/user/max_user_namespaces; echo "ns:$n"',
      holds: ({ stdout }) =>
        /^CapPrm:0+$/m.test(stdout) &&
        /^CapEff:0+$/m.test(stdout) &&
        /^NoNewPrivs:1$/m.test(stdout) &&
        /^Seccomp:2$/m.test(stdout),
    },
    {
      name: 'reaches a network',
      command: `while read -r name rest; do case $name in *:) echo "$name";; esac; done < /proc/net/dev; for to in 127.0.0.1/${port} 169.254.169.254/80; do (exec 9<> /dev/tcp/$to) 2> /dev/null && echo "reached $to"; done; echo end`,
      holds: ({ stdout }) => /^(?:lo:\n)?end\n$/.test(stdout),
    },
    {
      name: 'starts processes without end',
      command: 'for i in {1..64}; do (while [ $SECONDS -lt 4 ]; do :; done) & done; echo end',
      // A shell that may start no more tries for 15 s.
      holds: ({ stdout }) => !stdout.includes('end'),
      limits: { commandMs: 2_000 },
    },
    {
      name: 'takes memory without end',
      // Four times the limit, and no more where there is none.
      command: 'x=x; for i in {1..28}; do x=$x$x; done; echo end',
      holds: ({ exitCode }) => exitCode === KILLED,
    },
  ];
}

/**
 * Tries to break out of a container.
 * @param port at which the gateway listens; 0: not known
 * @returns what succeeded, in words; empty: the runtime holds
 */
export async function findEscapes(
  runtime: ContainerRuntime,
  { dataDir, port }: { readonly dataDir: string; readonly port: number },
): Promise<readonly string[]> {
  const escapes: string[] = [];
  for (const { name, command, holds, limits } of attempts(dataDir, port)) {
    const home = await mkdtemp(join(tmpdir(), 'gateway-self-test-'));
    try {
      const { signal } = new AbortController();
      const outcome = await runtime.run({ home, command, limits: { ...LIMITS, ...limits }, signal });
      if (!holds(outcome)) escapes.push(name);
    } finally {
      await rm(home, { recursive: true, force: true });
    }
  }
  return escapes;
}
