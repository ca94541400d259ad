import { getActivity } from './management/analytics/activity.ts';
import { exportAnalytics } from './management/analytics/export.ts';
import { getAnalyticsMeta } from './management/analytics/meta.ts';
import { queryAnalytics } from './management/analytics/query.ts';
import { assignKeys, unassignKeys } from './management/assignments/keys.ts';
import {
  listAllKeyAssignments,
  listAllMemberAssignments,
  listKeyAssignments,
  listMemberAssignments,
} from './management/assignments/list.ts';
import { assignMembers, unassignMembers } from './management/assignments/members.ts';
import { listAudit } from './management/audit.ts';
import { deleteBudget } from './management/budgets/delete.ts';
import { getBudget } from './management/budgets/get.ts';
import { listBudgets } from './management/budgets/list.ts';
import { putBudget } from './management/budgets/put.ts';
import { createByokKey } from './management/byok/create.ts';
import { deleteByokKey, getByokKey, listByokKeys } from './management/byok/byok-routes.ts';
import { updateByokKey } from './management/byok/update.ts';
import { adjustCredits } from './management/credits/adjust.ts';
import { chargeWithCoinbase } from './management/credits/coinbase.ts';
import { listCreditEntries } from './management/credits/entries.ts';
import { getCredits } from './management/credits/get.ts';
import { grantCredits } from './management/credits/grant.ts';
import { refundGeneration } from './management/credits/refund.ts';
import { getReconciliation, startReconciliation } from './management/credits/verify.ts';
import { explainErrors } from './management/errors.ts';
import { listEndpoints } from './management/endpoints/list.ts';
import { listZdrEndpoints } from './management/endpoints/zdr.ts';
import { downloadFileContent } from './management/files/content.ts';
import { deleteFile } from './management/files/delete.ts';
import { getFileMetadata } from './management/files/get.ts';
import { listFiles } from './management/files/list.ts';
import { uploadFile } from './management/files/upload.ts';
import { exportGenerations } from './management/generations/export.ts';
import { getGenerationContent } from './management/generations/content.ts';
import { listGenerationFeedback, submitGenerationFeedback } from './management/generations/feedback.ts';
import { getGeneration } from './management/generations/get.ts';
import { getGenerationRoute } from './management/generations/route.ts';
import { listRunningGenerations, stopGeneration } from './management/generations/running.ts';
import { listGenerations } from './management/generations/list.ts';
import { createGuardrail } from './management/guardrails/create.ts';
import { deleteGuardrail, getGuardrail, listGuardrails } from './management/guardrails/guardrail-routes.ts';
import { listGuardrailMatches } from './management/guardrails/matches.ts';
import { testGuardrail, testRules } from './management/guardrails/try.ts';
import { updateGuardrail } from './management/guardrails/update.ts';
import { getBenchmarks } from './management/insights/benchmarks.ts';
import {
  deleteDataset,
  getDataset,
  listDatasets,
  makeDatasetFromRequests,
  uploadDataset,
} from './management/insights/dataset-routes.ts';
import {
  cancelRun,
  createRun,
  deleteRun,
  getRun,
  listRunItems,
  listRuns,
  pauseRun,
  resumeRun,
  updateRun,
} from './management/insights/run-routes.ts';
import { compareRuns, importScores, publishRun, unpublishRun } from './management/insights/score-routes.ts';
import { getTaskClassifications } from './management/insights/tasks.ts';
import { getAppRankings, getRankingsDaily, getSessionCost } from './management/insights/traffic-datasets.ts';
import { createKey } from './management/keys/create.ts';
import { deleteKey } from './management/keys/delete.ts';
import { getKey } from './management/keys/get.ts';
import { getKeyLimits } from './management/keys/limits.ts';
import { listKeys } from './management/keys/list.ts';
import { updateKey } from './management/keys/update.ts';
import { addMembers } from './management/members/add.ts';
import { listMembers } from './management/members/list.ts';
import { updateMember } from './management/members/update.ts';
import { removeMembers } from './management/members/remove.ts';
import { getModelSources } from './management/models/sources.ts';
import { countModels } from './management/models/count.ts';
import { listEmbeddingsModels } from './management/models/embeddings.ts';
import { getModel } from './management/models/get.ts';
import { listModels } from './management/models/list.ts';
import { retrieveModel, retrieveModelBySlug } from './management/models/retrieve.ts';
import { listModelsOfCaller } from './management/models/user.ts';
import { exchangeAuthCode } from './management/oauth/exchange.ts';
import { issueAuthCode } from './management/oauth/issue.ts';
import { createDestination } from './management/observability/create.ts';
import { deleteDestination, getDestination, listDestinations } from './management/observability/destination-routes.ts';
import { testDestination } from './management/observability/call.ts';
import { listDestinationTypes } from './management/observability/types.ts';
import { updateDestination } from './management/observability/update.ts';
import { getConfig } from './management/operations/config.ts';
import { getHealthDetails } from './management/operations/health-details.ts';
import { countJobs, getJob, listJobs } from './management/operations/jobs.ts';
import {
  checkNewByokKey,
  checkProviderOfGateway,
  checkStoredByokKey,
  listProviderStatuses,
} from './management/operations/provider-checks.ts';
import { callMcpTool, listMcpServers, listPlugins, listServerTools } from './management/operations/tool-inventory.ts';
import { backtestRoute } from './management/routing/backtest.ts';
import { getRoutingHealth, resetRoutingHealth } from './management/operations/routing-health.ts';
import {
  inviteUser,
  listInvitations,
  renewInvitation,
  withdrawInvitation,
} from './management/organization/invitations.ts';
import { listOrganizationMembers } from './management/organization/members.ts';
import { createPasswordLink, deleteUser, updateUser } from './management/organization/user-routes.ts';
import { getOwnKey } from './management/own-key.ts';
import { listProviders } from './management/providers.ts';
import { deletePreset } from './management/presets/delete.ts';
import { getPreset } from './management/presets/get.ts';
import { listPresets } from './management/presets/list.ts';
import { updatePreset } from './management/presets/update.ts';
import { getPresetVersion } from './management/presets/version.ts';
import { listPresetVersions } from './management/presets/versions.ts';
import { writePresetFromChat, writePresetFromMessages, writePresetFromResponses } from './management/presets/write.ts';
import {
  createScimGroupMapping,
  createScimToken,
  deleteScimGroupMapping,
  deleteScimToken,
  getScimGroupMapping,
  listScimGroupMappings,
  listScimGroups,
  listScimTokens,
  updateScimGroupMapping,
} from './management/scim/scim-routes.ts';
import { getScimStatus, listScimRequests, listScimUsers } from './management/scim/overview-routes.ts';
import { PLATFORM_ROUTES } from './platform-routes.ts';
import type { ManagementRoute } from './management/route.ts';
import { listImageEndpoints } from './management/images/endpoints.ts';
import { listImageModels } from './management/images/models.ts';
import { getVideoContent } from './management/videos/content.ts';
import { deleteVideo } from './management/videos/delete.ts';
import { getVideo } from './management/videos/get.ts';
import { cancelVideoJob, deleteVideoJob, listVideoJobs, readVideoJobContent } from './management/videos/job-routes.ts';
import { listVideos } from './management/videos/list.ts';
import { listVideoModels } from './management/videos/models.ts';
import { cancelResponse } from './management/responses/cancel.ts';
import { deleteResponse } from './management/responses/delete.ts';
import { getResponse } from './management/responses/get.ts';
import { cancelKeptResponse, deleteKeptResponse, listKeptResponses } from './management/responses/kept.ts';
import { listInputItems } from './management/responses/input-items.ts';
import { createWorkspace } from './management/workspaces/create.ts';
import { deleteWorkspace } from './management/workspaces/delete.ts';
import { getWorkspace, listWorkspaces } from './management/workspaces/workspace-routes.ts';
import { updateWorkspace } from './management/workspaces/update.ts';

/** Every management route. A new one is a file, or a few lines of its resource's, and a line here; documentation and tests follow from the list. */
export const MANAGEMENT_ROUTES: readonly ManagementRoute[] = [
  getOwnKey,
  getTaskClassifications,
  getRankingsDaily,
  getAppRankings,
  getSessionCost,
  getBenchmarks,
  uploadDataset,
  makeDatasetFromRequests,
  listDatasets,
  getDataset,
  deleteDataset,
  createRun,
  listRuns,
  getRun,
  updateRun,
  deleteRun,
  pauseRun,
  resumeRun,
  cancelRun,
  listRunItems,
  publishRun,
  unpublishRun,
  compareRuns,
  importScores,
  listKeys,
  createKey,
  getKey,
  getKeyLimits,
  updateKey,
  deleteKey,
  listWorkspaces,
  createWorkspace,
  getWorkspace,
  updateWorkspace,
  deleteWorkspace,
  listBudgets,
  getBudget,
  putBudget,
  deleteBudget,
  listMembers,
  addMembers,
  removeMembers,
  updateMember,
  listOrganizationMembers,
  inviteUser,
  updateUser,
  deleteUser,
  createPasswordLink,
  listInvitations,
  renewInvitation,
  withdrawInvitation,
  createScimToken,
  listScimTokens,
  listScimUsers,
  listScimRequests,
  getScimStatus,
  deleteScimToken,
  listScimGroups,
  listScimGroupMappings,
  createScimGroupMapping,
  getScimGroupMapping,
  updateScimGroupMapping,
  deleteScimGroupMapping,
  listGuardrails,
  createGuardrail,
  listAllKeyAssignments,
  listAllMemberAssignments,
  getGuardrail,
  updateGuardrail,
  deleteGuardrail,
  testGuardrail,
  testRules,
  listGuardrailMatches,
  listKeyAssignments,
  assignKeys,
  unassignKeys,
  listMemberAssignments,
  assignMembers,
  unassignMembers,
  listAudit,
  getCredits,
  grantCredits,
  adjustCredits,
  refundGeneration,
  listCreditEntries,
  startReconciliation,
  getReconciliation,
  chargeWithCoinbase,
  listGenerations,
  exportGenerations,
  listRunningGenerations,
  stopGeneration,
  getGeneration,
  getGenerationRoute,
  getGenerationContent,
  listGenerationFeedback,
  submitGenerationFeedback,
  getActivity,
  getAnalyticsMeta,
  queryAnalytics,
  exportAnalytics,
  listDestinations,
  createDestination,
  getDestination,
  updateDestination,
  deleteDestination,
  testDestination,
  listDestinationTypes,
  listProviderStatuses,
  checkProviderOfGateway,
  checkNewByokKey,
  checkStoredByokKey,
  listPlugins,
  listServerTools,
  listMcpServers,
  callMcpTool,
  getConfig,
  getHealthDetails,
  listJobs,
  countJobs,
  getJob,
  getRoutingHealth,
  resetRoutingHealth,
  backtestRoute,
  listModels,
  countModels,
  listModelsOfCaller,
  retrieveModel,
  retrieveModelBySlug,
  getModel,
  getModelSources,
  listEndpoints,
  listZdrEndpoints,
  listProviders,
  explainErrors,
  listByokKeys,
  createByokKey,
  getByokKey,
  updateByokKey,
  deleteByokKey,
  listPresets,
  getPreset,
  updatePreset,
  deletePreset,
  listPresetVersions,
  getPresetVersion,
  writePresetFromChat,
  writePresetFromMessages,
  writePresetFromResponses,
  listFiles,
  uploadFile,
  getFileMetadata,
  deleteFile,
  downloadFileContent,
  listKeptResponses,
  cancelKeptResponse,
  deleteKeptResponse,
  getResponse,
  deleteResponse,
  cancelResponse,
  listInputItems,
  listEmbeddingsModels,
  listVideoModels,
  listImageModels,
  listImageEndpoints,
  listVideos,
  listVideoJobs,
  cancelVideoJob,
  deleteVideoJob,
  readVideoJobContent,
  getVideo,
  deleteVideo,
  getVideoContent,
  issueAuthCode,
  exchangeAuthCode,
  ...PLATFORM_ROUTES,
];
