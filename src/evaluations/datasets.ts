import { randomUUID } from 'node:crypto';
import { GatewayError, invalid } from '../canonical/gateway-error.ts';
import type { DatasetRow } from '../store/evaluations/columns.ts';
import type { DatasetStore } from '../store/evaluations/datasets.ts';
import { bodyOf } from './unit-requests.ts';
import type { DatasetItem } from './dataset/item.ts';
import { DatasetScan } from './dataset/scan-dataset.ts';
import type { EvaluationDeps } from './deps.ts';
import { KeptLines, type KeptRequestSearch, type ReadKeptRequests } from './kept-requests.ts';
import { conflict, noSuch } from './refusals.ts';

/** What is known of a dataset once its bytes have come. */
export interface DatasetInput {
  readonly name: string;
  readonly license?: string | undefined;
  readonly citation?: string | undefined;
}

export interface Datasets extends Pick<DatasetStore, 'list'> {
  /** @throws GatewayError 400 for lines that are wrong, 409 for content that is there, 413 */
  upload(chunks: AsyncIterable<Uint8Array>, input: () => DatasetInput): Promise<DatasetRow>;
  /** Stores kept requests as a dataset. @throws GatewayError 400 where none can be sent again, 409 for content that is there */
  fromRequests(
    search: KeptRequestSearch,
    input: DatasetInput,
  ): Promise<{ readonly row: DatasetRow; readonly skipped: number }>;
  /** @throws GatewayError 404 */
  get(id: string): Promise<DatasetRow>;
  /** @throws GatewayError 404, 409 while a run needs it */
  delete(id: string): Promise<void>;
}

type DatasetsDeps = Pick<EvaluationDeps, 'datasets' | 'blobs' | 'clock' | 'containers'> & {
  readonly readKept: ReadKeptRequests;
  /** Checks a body of the chat format. @throws GatewayError 400 */
  readonly checkBody: (body: ReturnType<typeof bodyOf>) => void;
};

export function createDatasets(deps: DatasetsDeps): Datasets {
  const { datasets, blobs, clock, checkBody, containers, readKept } = deps;
  const upload: Datasets['upload'] = async (chunks, input) => {
    const id = randomUUID();
    const scan = new DatasetScan((item) => faultOfCommands(item, containers) ?? faultOf(item, checkBody));
    await blobs.write(id, scan.pass(chunks));
    try {
      const { name, license = null, citation = null } = input();
      const { items, bytes: sizeBytes, sha256, judged: judgedItems } = scan.facts();
      const row = { id, name, sha256, items, judgedItems, sizeBytes, license, citation, createdAtMs: clock.nowMs() };
      if (await datasets.add(row)) return row;
      throw conflict('dataset_exists', `This file is stored as the dataset ${JSON.stringify(name)}.`);
    } catch (error) {
      await blobs.remove(id);
      throw error;
    }
  };
  return {
    list: (window) => datasets.list(window),
    upload,
    async fromRequests(search, input) {
      if (search.fromMs >= search.toMs) throw invalid('end', 'must be after start');
      const lines = new KeptLines(readKept, search, (item) => faultOf(item, checkBody));
      const row = await upload(lines.bytes(), () => input);
      return { row, skipped: lines.skipped };
    },
    async get(id) {
      const row = await datasets.find(id);
      if (row === undefined) throw noSuch('dataset');
      return row;
    },
    async delete(id) {
      const outcome = await datasets.remove(id);
      if (outcome === 'missing') throw noSuch('dataset');
      if (outcome === 'busy')
        throw conflict('dataset_in_use', 'A run of this dataset is not over: cancel it, or wait for its end.');
      await blobs.remove(id);
    },
  };
}

/** Any model stands for those of a run: what is wrong with messages and tools is so for each. */
const ANY_MODEL = { model: 'any/model' };

/** Commands of a dataset run in containers, and nowhere else. */
function faultOfCommands({ checks }: DatasetItem, containers: DatasetsDeps['containers']): string | undefined {
  const at = checks.findIndex(({ type }) => type === 'command');
  if (at < 0 || containers !== undefined) return undefined;
  return `checks.${at}: a command needs containers, which are off: set containers.runtime in the configuration (docs/containers.md)`;
}

function faultOf(item: DatasetItem, checkBody: DatasetsDeps['checkBody']): string | undefined {
  try {
    checkBody(bodyOf(item, ANY_MODEL, 1));
    return undefined;
  } catch (error) {
    if (error instanceof GatewayError && error.status === 400) return error.message;
    throw error;
  }
}
