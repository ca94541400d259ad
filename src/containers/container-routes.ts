import type { Readable } from 'node:stream';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { ShellOwner } from '../canonical/tools/shell.ts';
import type { Clock } from '../lib/clock.ts';
import { listFiles, openFile, putUpload, type ContainerFile, type GivenFolder } from './container-files.ts';
import type { ContainerSettings } from './contract.ts';
import {
  findOwn,
  listOwn,
  makeOwn,
  removeContainer,
  type DescribedContainer,
  type KeptContainer,
  type NewContainer,
} from './kept-containers.ts';
import { placesIn } from './manifest.ts';

/** A container as routes show it. */
export interface ContainerRecord {
  readonly id: string;
  /** `warm`: a command runs. `asleep`: its files are all that there is. */
  readonly status: 'warm' | 'asleep';
  readonly memoryBytes: number;
  readonly createdAtMs: number;
  readonly lastActiveAtMs: number;
  readonly expiresAtMs: number;
}

export interface IdWindow {
  readonly limit: number;
  /** Only what follows this id. */
  readonly after?: string | undefined;
}

export interface IdPage<Row> {
  readonly rows: readonly Row[];
  readonly hasMore: boolean;
}

/** Containers of one workspace, whatever key of it calls. Those of others are not there. */
export interface ContainerRoutes {
  /** @throws GatewayError 400 for more than the configuration allows, 409, 429 */
  create(owner: ShellOwner & { readonly keyHash: string }, input: NewContainer): Promise<ContainerRecord>;
  /** By id. */
  list(owner: ShellOwner, window: IdWindow): Promise<IdPage<ContainerRecord>>;
  /** @throws GatewayError 404 */
  get(owner: ShellOwner, id: string): Promise<ContainerRecord>;
  /** With its files. @throws GatewayError 404, 409 while a command runs */
  remove(owner: ShellOwner, id: string): Promise<void>;
  /** By path. @throws GatewayError 404 */
  files(owner: ShellOwner, id: string, window: IdWindow): Promise<IdPage<ContainerFile>>;
  /** @throws GatewayError 404 */
  open(
    owner: ShellOwner,
    id: string,
    fileId: string,
  ): Promise<{ readonly file: ContainerFile; readonly content: Readable }>;
  /** @throws GatewayError 400, 404, 413 */
  upload(
    owner: ShellOwner,
    id: string,
    name: string,
    chunks: AsyncIterable<Uint8Array>,
    folder?: GivenFolder,
  ): Promise<ContainerFile>;
}

export function createContainerRoutes(
  settings: ContainerSettings,
  clock: Clock,
  isRunning: (folder: string) => boolean,
): ContainerRoutes {
  const { directory, limits } = settings;
  const record = (container: DescribedContainer): ContainerRecord => {
    const { folder, manifest, lastActiveAtMs } = container;
    return {
      id: manifest.id,
      status: isRunning(folder) ? 'warm' : 'asleep',
      memoryBytes: Math.min(manifest.memoryBytes ?? limits.memoryBytes, limits.memoryBytes),
      createdAtMs: manifest.createdAtMs,
      lastActiveAtMs,
      expiresAtMs: expiresAtMs(container, settings),
    };
  };
  const placesOf = async (owner: ShellOwner, id: string) =>
    placesIn(directory, (await findOwn(directory, owner, id)).folder);
  return {
    async create(owner, input) {
      if ((input.memoryBytes ?? 0) > limits.memoryBytes)
        throw invalid('memory_mb', 'is more than containers.limits.memory_mb of the configuration');
      if ((input.expiresMs ?? 0) > settings.expiresMs)
        throw invalid('expires_after.minutes', 'is more than containers.expires_after_minutes of the configuration');
      return record(await makeOwn(directory, owner, input, clock));
    },
    async list(owner, window) {
      const { rows, hasMore } = pageOf(await listOwn(directory, owner), ({ manifest }) => manifest.id, window);
      return { rows: rows.map(record), hasMore };
    },
    get: async (owner, id) => record(await findOwn(directory, owner, id)),
    async remove(owner, id) {
      const { folder } = await findOwn(directory, owner, id);
      if (isRunning(folder))
        throw new GatewayError('invalid_request', 'A command runs in the container. Delete it when it has ended.', {
          status: 409,
        });
      await removeContainer(directory, folder);
    },
    files: async (owner, id, window) => pageOf(await listFiles(await placesOf(owner, id)), (file) => file.id, window),
    open: async (owner, id, fileId) => openFile(await placesOf(owner, id), fileId),
    upload: async (owner, id, name, chunks, folder) =>
      putUpload(await placesOf(owner, id), name, chunks, limits.diskBytes, folder),
  };
}

export function expiresAtMs(
  { manifest, lastActiveAtMs }: KeptContainer,
  { expiresMs }: Pick<ContainerSettings, 'expiresMs'>,
): number {
  return lastActiveAtMs + Math.min(manifest?.expiresMs ?? expiresMs, expiresMs);
}

/** What follows an id that is gone meanwhile begins anew. */
function pageOf<Row>(all: readonly Row[], idOf: (row: Row) => string, { limit, after }: IdWindow): IdPage<Row> {
  const from = after === undefined ? 0 : all.findIndex((row) => idOf(row) === after) + 1;
  return { rows: all.slice(from, from + limit), hasMore: all.length > from + limit };
}
