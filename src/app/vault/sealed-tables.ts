import { purposeOf as purposeOfCredential } from '../../accounts/byok/byok-credentials.ts';
import type { SealedTable } from '../../accounts/byok/rotate-secret.ts';
import { createSealedRows } from '../../store/accounts/sealed-rows.ts';
import type { Database } from '../../store/engine/database.ts';
import { channelPurpose } from '../../notifications/sealed-address.ts';
import { internPurpose } from '../../store/interns/texts.ts';
import { storedResponsePurpose } from '../../store/responses/sealing.ts';
import { videoJobPurpose } from '../../store/video-jobs/video-jobs.ts';
import { purposeOf as purposeOfContent } from '../../telemetry/content-log.ts';
import { destinationPurpose } from '../../telemetry/destinations/destinations.ts';

/** All encrypted columns, each with the purpose of its encryption. */
export function sealedTables(database: Database): readonly SealedTable[] {
  const {
    credentials,
    content,
    destinations,
    responses,
    responseMedia,
    backgroundResponses,
    responseEvents,
    videoJobs,
    notificationChannels,
    vaultSecrets,
    internTexts,
  } = createSealedRows(database);
  return [
    { rows: credentials, purposeOf: ({ id, context }) => purposeOfCredential({ id, provider: context ?? '' }) },
    { rows: content, purposeOf: ({ id }) => purposeOfContent(id) },
    { rows: destinations, purposeOf: ({ id }) => destinationPurpose(id) },
    { rows: notificationChannels, purposeOf: ({ id }) => channelPurpose(id) },
    ...[responses, responseMedia, backgroundResponses, responseEvents].map((rows): SealedTable => ({
      rows,
      purposeOf: ({ context }) => storedResponsePurpose(context ?? ''),
    })),
    { rows: videoJobs, purposeOf: ({ context }) => videoJobPurpose(context ?? '') },
    { rows: internTexts, purposeOf: ({ id, context }) => internPurpose(context ?? '', id) },
    { rows: vaultSecrets, purposeOf: ({ context }) => `vault:${context ?? ''}` },
  ];
}
