import { join } from 'node:path';
import type { Config } from '../../config/config.ts';
import { createContainers, type Containers } from '../../containers/containers.ts';
import { ContainerError, type ContainerRuntime } from '../../containers/contract.ts';
import { openRuntime } from '../../containers/open-runtime.ts';
import type { Clock } from '../../lib/clock.ts';
import type { Log } from '../../telemetry/logs.ts';

/** What of each stream is returned where a call does not say. */
const OUTPUT_BYTES = 65_536;

export interface ContainerArea {
  /** Absent: the configuration has none, or this machine isolates nothing. */
  readonly shell?: Containers;
  /** Why there is none although the configuration has one. */
  readonly problem?: string;
  close(): Promise<void>;
}

type ContainerConfig = Pick<Config, 'containers' | 'dataDir' | 'server'>;

/**
 * Commands of models, apart from the machine. Where nothing isolates them the area stays off, and says why; the gateway starts
 * all the same. @spec container-2
 */
export async function openContainerArea(
  config: ContainerConfig,
  env: Readonly<Record<string, string | undefined>>,
  clock: Clock,
  log: Log,
): Promise<ContainerArea> {
  if (config.containers.runtime === 'off') return { close: () => Promise.resolve() };
  try {
    const runtime = await openConfiguredRuntime(config, env, (container, error) =>
      log.general.warn({ container, err: error }, 'a container could not be removed, and is tried again'),
    );
    const { name, enforces } = runtime;
    log.general.info({ runtime: name, enforces }, 'containers are on');
    const containers = openConfiguredContainers(config, runtime, clock, (error) =>
      log.general.warn({ err: error }, 'containers that have expired could not be removed'),
    );
    containers.start();
    return { shell: containers, close: () => containers.close() };
  } catch (error) {
    if (!(error instanceof ContainerError)) throw error;
    log.general.error({ reason: error.message }, 'containers stay off: nothing isolates commands here');
    return { problem: error.message, close: () => Promise.resolve() };
  }
}

/** @throws ContainerError */
export function openConfiguredRuntime(
  { containers, dataDir, server }: ContainerConfig,
  env: Readonly<Record<string, string | undefined>>,
  onLeft?: (name: string, error: unknown) => void,
): Promise<ContainerRuntime> {
  const { runtime, rootfs, cgroup, allowsRootful } = containers;
  const choice = runtime === 'off' ? 'auto' : runtime;
  return openRuntime({ choice, rootfs, cgroup, allowsRootful, dataDir, port: server.port, env, onLeft });
}

export function openConfiguredContainers(
  { containers, dataDir }: Pick<Config, 'containers' | 'dataDir'>,
  runtime: Pick<ContainerRuntime, 'run'>,
  clock: Clock,
  onFailed: (error: unknown) => void,
): Containers {
  const { limits, callMs, expiresMs } = containers;
  const directory = join(dataDir, 'containers');
  return createContainers(
    runtime,
    { directory, limits: { ...limits, outputBytes: OUTPUT_BYTES }, callMs, expiresMs },
    clock,
    onFailed,
  );
}
