import {
  createChannel,
  deleteChannel,
  getChannel,
  listChannels,
  listEventTypes,
  testChannel,
  updateChannel,
} from './management/notifications/channel-routes.ts';
import { listNotificationEvents, resendNotificationEvent } from './management/notifications/event-routes.ts';
import {
  createClassifier,
  deleteClassifier,
  getClassifier,
  listClassifiers,
  updateClassifier,
} from './management/insights/classifier-routes.ts';
import {
  backfillClassifier,
  cancelBackfill,
  listBackfills,
  testClassifier,
} from './management/insights/classifier-runs.ts';
import { chatWithIntern, followInternRun } from './management/interns/chat.ts';
import { answerInternInput, listAllInternInputs, listInternInputs } from './management/interns/input-routes.ts';
import { getInternMemory, listInternSchedules, setInternMemory } from './management/interns/memory-routes.ts';
import {
  createIntern,
  deleteIntern,
  getIntern,
  listInterns,
  provisionIntern,
  suspendIntern,
  updateIntern,
} from './management/interns/lifecycle-routes.ts';
import {
  cancelInternRun,
  getInternRun,
  listInternMessages,
  listInternRuns,
  listInternSessions,
  listInternSteps,
} from './management/interns/run-routes.ts';
import { createContainer, deleteContainer, getContainer, listContainers } from './management/files/container-crud.ts';
import {
  downloadContainerFile,
  getContainerFile,
  listContainerFiles,
  promoteContainerFile,
  uploadContainerFile,
} from './management/files/container-files.ts';
import {
  copyInternSecrets,
  deleteInternSecret,
  listEffectiveSecrets,
  listInternSecrets,
  putInternSecret,
} from './management/vault/interns.ts';
import { listVaultReleases, rotateMasterKey } from './management/vault/operator.ts';
import { deleteVaultSecret, getVaultSecret, listVaultSecrets, putVaultSecret } from './management/vault/secrets.ts';
import type { ManagementRoute } from './management/route.ts';

/** Routes of the services around models: notifications, containers, the vault, classifiers and interns. */
export const PLATFORM_ROUTES: readonly ManagementRoute[] = [
  listChannels,
  createChannel,
  getChannel,
  updateChannel,
  deleteChannel,
  testChannel,
  listEventTypes,
  listNotificationEvents,
  resendNotificationEvent,
  listContainers,
  createContainer,
  getContainer,
  deleteContainer,
  listContainerFiles,
  uploadContainerFile,
  getContainerFile,
  downloadContainerFile,
  promoteContainerFile,
  listVaultSecrets,
  getVaultSecret,
  putVaultSecret,
  deleteVaultSecret,
  listVaultReleases,
  listInternSecrets,
  putInternSecret,
  deleteInternSecret,
  copyInternSecrets,
  listEffectiveSecrets,
  rotateMasterKey,
  listClassifiers,
  createClassifier,
  getClassifier,
  updateClassifier,
  deleteClassifier,
  testClassifier,
  backfillClassifier,
  listBackfills,
  cancelBackfill,
  getInternMemory,
  setInternMemory,
  listInternSchedules,
  listInterns,
  createIntern,
  getIntern,
  updateIntern,
  deleteIntern,
  provisionIntern,
  suspendIntern,
  chatWithIntern,
  listInternSessions,
  listInternMessages,
  listInternRuns,
  getInternRun,
  listInternSteps,
  followInternRun,
  cancelInternRun,
  listAllInternInputs,
  listInternInputs,
  answerInternInput,
];
