import { getGeneration } from './management/generation.ts';
import { createKey } from './management/keys/create.ts';
import { deleteKey } from './management/keys/delete.ts';
import { getKey } from './management/keys/get.ts';
import { listKeys } from './management/keys/list.ts';
import { updateKey } from './management/keys/update.ts';
import { getOwnKey } from './management/own-key.ts';
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
];
