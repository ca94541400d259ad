import type { Files } from '../../accounts/files.ts';
import { createLruCache } from '../../lib/cache/lru-cache.ts';
import type { DownloaderOptions } from '../../lib/net/download.ts';
import { createGuardedAgent } from '../../lib/net/guarded-agent.ts';
import { createProxyOf } from '../../lib/net/proxy/proxies.ts';
import type { SecretBox } from '../../lib/secret-box.ts';
import type { GenerateDeps } from '../../pipeline/generate.ts';
import type { Database } from '../../store/engine/database.ts';
import { createVideoJobStore } from '../../store/video-jobs/video-jobs.ts';
import { createPoster } from '../../telemetry/destinations/post.ts';
import type { VideoTimes } from '../../video-jobs/poll-job.ts';
import { createVideoJobs, newOwner, type VideoJobs } from '../../video-jobs/video-jobs.ts';
import type { Observability } from '../observability.ts';
import { destinationAddresses } from '../destinations/destination-addresses.ts';
import type { SharedDeps } from '../shared-deps.ts';

export interface VideoArea {
  readonly videos: VideoJobs;
  start(): void;
  close(): Promise<void>;
}

interface VideoAreaDeps extends SharedDeps {
  readonly database: Database;
  readonly files: Files;
  readonly exports: Observability['exports'];
  readonly box: () => Promise<SecretBox>;
  /** Which addresses may be fetched; default: https on the public Internet. */
  readonly downloads?: DownloaderOptions | undefined;
  /** For tests. */
  readonly videoTimes?: Partial<VideoTimes> | undefined;
  /** Whether this process looks at jobs; one process of a gateway does. */
  readonly keepsStore: boolean;
}

const TIMES: VideoTimes = {
  tickMs: 1_000,
  firstPollMs: 5_000,
  pollMsMax: 30_000,
  leaseMs: 60_000,
  submitLeaseMs: 120_000,
  awayMsMax: 3_600_000,
  callbackDelaysMs: [0, 60_000, 600_000, 3_600_000, 21_600_000, 61_200_000],
};
/** How long a record may come after its hour was summed up. */
const LATE_MS = 300_000;
/** Each of them is in the log once. */
const UNKNOWN_WORDS_MAX = 1_000;

/** Jobs that make clips, and what looks after them. */
export function createVideoArea(deps: VideoAreaDeps, generateDeps: GenerateDeps): VideoArea {
  const { config, database, clock, log, metrics } = deps;
  const agent = createGuardedAgent({ proxyOf: createProxyOf(config.proxies), ...deps.downloads });
  const words = createLruCache<string, true>(UNKNOWN_WORDS_MAX);
  const poster = createPoster(destinationAddresses(config));
  const videos = createVideoJobs({
    ...generateDeps,
    jobs: createVideoJobStore({ database, box: deps.box, clock, lagMs: config.timeouts.totalMs + LATE_MS }),
    exportFacts: (record) => (deps.exports.isOn ? deps.exports.factsOf(record) : undefined),
    fileMemory: deps.fileMemory,
    files: deps.files,
    agent,
    poster,
    clock,
    times: { ...TIMES, ...deps.videoTimes },
    owner: newOwner(),
    jobMs: config.videos.jobMs,
    assets: config.videos.assets,
    retentionMs: config.videos.retentionMs,
    pollAtOnce: config.videos.pollAtOnce,
    submitMs: config.timeouts.videoSubmitMs,
    pollTimeoutMs: config.timeouts.videoPollMs,
    callbackUrl: config.videos.webhookUrl,
    secret: config.videos.webhookSecret,
    keepsStore: deps.keepsStore,
    onEnded: (status) => metrics.videoJobEnded(status),
    onReported: (outcome) => metrics.callbackSent(outcome),
    onUnknownWord(provider, word) {
      const key = `${provider} ${word}`;
      if (words.has(key)) return;
      words.set(key, true);
      log.general.error({ provider, nativeState: word }, 'a provider says a word that is not known');
    },
    onAlarm: (problem, facts) => log.general.error(facts, problem),
    onFailed: (error, id) => log.general.error({ err: error, id }, 'a job could not be looked at'),
    onHousekeepingFailed: (error) => log.general.warn({ err: error }, 'jobs could not be looked at: tried again later'),
  });
  return {
    videos,
    start: () => videos.start(),
    async close() {
      await videos.close();
      await Promise.all([agent.close(), poster.close()]);
    },
  };
}
