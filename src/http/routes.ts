import { listEndpoints } from './management/endpoints/list.ts';
import { listZdrEndpoints } from './management/endpoints/zdr.ts';
import { getGeneration } from './management/generation.ts';
import { createKey } from './management/keys/create.ts';
import { deleteKey } from './management/keys/delete.ts';
import { getKey } from './management/keys/get.ts';
import { listKeys } from './management/keys/list.ts';
import { updateKey } from './management/keys/update.ts';
import { countModels } from './management/models/count.ts';
import { getModel } from './management/models/get.ts';
import { listModels } from './management/models/list.ts';
import { listModelsOfCaller } from './management/models/user.ts';
import { getOwnKey } from './management/own-key.ts';
import { listProviders } from './management/providers.ts';
import type { ManagementRoute } from './management/route.ts';

/** Every management route. A new one is a file and a line here; documentation and tests follow from the list. */
export const MANAGEMENT_ROUTES: readonly ManagementRoute[] = [
  getOwnKey,
  listKeys,
  createKey,
  getKey,
  updateKey,
  deleteKey,
  getGeneration,
  listModels,
  countModels,
  listModelsOfCaller,
  getModel,
  listEndpoints,
  listZdrEndpoints,
  listProviders,
];
