import { z } from 'zod';
import { DATABASE_URL_RULE, isDatabaseUrl } from './addresses/database-url.ts';
import { checkTransport, mcpServersSection, mcpServerShape } from './mcp-servers.ts';
import { isRedisPrefix, isRedisUrl, REDIS_PREFIX_RULE, REDIS_URL_RULE } from './addresses/redis-url.ts';
import { aliases } from './schema/aliases.ts';
import { containersSection } from './schema/containers.ts';
import { consoleSection } from './schema/console.ts';
import { decisionsSection } from './schema/decisions.ts';
import { key } from './schema/key.ts';
import { betaChanges, provider, retrySection } from './schema/models.ts';
import { headers, httpUrl, OFF, optionalSection, providerSlug, section, text } from './schema/parts.ts';
import { organizationSection } from './schema/organization.ts';
import { mcpServerSection } from './schema/mcp-server.ts';
import { notificationsSection } from './schema/notifications.ts';
import { defaults, rateLimits, timeouts } from './schema/requests.ts';
import { responses } from './schema/responses.ts';
import { routers } from './schema/routers.ts';
import { scimSection } from './schema/scim.ts';
import { server } from './schema/server.ts';
import { vaultSection, webCredentials } from './schema/vault.ts';
import { internsSection } from './schema/interns.ts';
import { scoresSection } from './schema/scores.ts';
import { videos } from './schema/videos.ts';
import { moderation } from './schema/moderation.ts';
import { fileParser, guardrails, search } from './schema/services.ts';

/*
 * The configuration file as the operator writes it: the names of README.md, closed objects, nothing converted. A key
 * without a value counts as absent where a section stands, so that a section may be commented out line by line.
 * What is said of each key goes to docs/configuration.md (`npm run generate`).
 */

/** Some segments for each of two processes. */
const JOURNAL_MB_MIN = 32;
const JOURNAL_MB_MAX = 1_048_576;
const FILE_QUOTA_MB_MAX = 100_000_000;
const PICTURE_USD_MAX = 1_000;
const RETENTION_DAYS_MAX = 3_650;
const EXPORT_HOURS_MAX = 8_760;
const PUSH_S_MAX = 3_600;
/** A list that is read more rarely could not be called fresh. */
const REFRESH_HOURS_MAX = 720;

/** As a tag of a vendor may be. */
const serviceText = z.string().regex(/^[\x21-\x7e]{1,100}$/, 'must have 1 to 100 of ASCII, and no space');

export const configFile = section({
  server,
  defaults,
  timeouts,
  database_url: key(text.refine(isDatabaseUrl, DATABASE_URL_RULE), 'The address of a PostgreSQL: docs/deploy.md.', {
    usual: 'an embedded database in the data directory',
    example: 'postgres://gateway@127.0.0.1/gateway',
  }),
  redis_url: key(
    text.refine(isRedisUrl, REDIS_URL_RULE),
    'The address of a Redis, for state that several processes share: docs/deploy.md.',
    {
      usual: 'in memory',
      example: 'redis://127.0.0.1:6379',
    },
  ),
  redis_prefix: key(text.refine(isRedisPrefix, REDIS_PREFIX_RULE), 'The prefix of every key in that Redis.', {
    default: 'gateway',
  }),
  journal: optionalSection(
    {
      durability: key(
        z.enum(['process', 'power', 'database']),
        'What a response waits for before it ends: that its record survives the end of the process, the loss of power, or the loss of the data directory.',
        {
          usual: '`process`; `database` where `database_url` is set and the data directory is on tmpfs or an overlay',
          example: 'power',
        },
      ),
      bytes_max_mb: key(
        z.int().min(JOURNAL_MB_MIN).max(JOURNAL_MB_MAX),
        'The size of all journals in the data directory; without room in them new requests get 503.',
        { default: 1_024 },
      ),
    },
    'Records on their way to the database: docs/deploy.md.',
  ),
  catalog: optionalSection(
    {
      refresh: optionalSection(
        {
          enabled: key(z.boolean(), 'Reads a public list of models.', OFF),
          every_hours: key(z.number().min(1).max(REFRESH_HOURS_MAX), 'How often.', { default: 24 }),
          url: key(httpUrl, 'The address of the list.', {
            usual: 'models.dev',
            example: 'https://models.example/api.json',
          }),
          override_prices: key(z.boolean(), "Its prices win over the project's own.", OFF),
        },
        'A public list that fills in missing facts about models: docs/add-a-model.md.',
      ),
    },
    'Facts about models.',
  ),
  rescue: optionalSection(
    {
      enabled: key(
        z.boolean(),
        'Another endpoint continues a stream that breaks off, also when the request does not enable it.',
        OFF,
      ),
    },
    'Mid-stream failover: docs/mid-stream-failover.md.',
  ),
  retry: retrySection({ default: 0, example: 1 }, { default: 3_000 }),
  deadlines: optionalSection(
    {
      adaptive: key(
        z.boolean(),
        'While another candidate is left, the time limit of an attempt follows the history of its endpoint.',
        {
          default: true,
          example: false,
        },
      ),
    },
    'Adaptive deadlines: docs/fallback.md.',
  ),
  search,
  web_fetch: optionalSection(
    {
      private_addresses: key(z.boolean(), "Pages of the operator's own network may be fetched.", OFF),
      credentials: webCredentials,
    },
    'Fetching web pages: docs/web.md.',
  ),
  files: optionalSection(
    {
      directory: key(text, 'The directory of stored files.', {
        usual: '`files` in the data directory',
        example: '/mnt/files',
      }),
      workspace_quota_mb: key(z.number().min(0).max(FILE_QUOTA_MB_MAX), 'Space for all files of a workspace.', {
        default: 10_240,
      }),
    },
    'Files that callers store: docs/files.md.',
  ),
  videos,
  images: optionalSection(
    {
      hold_usd: key(
        z.number().min(0).max(PICTURE_USD_MAX),
        'What is reserved for a picture that is paid by tokens, where nothing says how many it has.',
        { default: 0.25 },
      ),
    },
    'Requests for pictures: docs/images.md.',
  ),
  file_parser: fileParser,
  guardrails,
  moderation,
  routers,
  credits: optionalSection(
    { enforce: key(z.boolean(), 'Requests of an account without credit get 402.', OFF) },
    "The account's credit: docs/administration.md.",
  ),
  oauth: optionalSection(
    { normal_keys: key(z.boolean(), 'Normal keys may issue keys for applications.', OFF) },
    'Keys for applications: docs/administration.md.',
  ),
  console: consoleSection,
  decisions: decisionsSection,
  vault: vaultSection,
  containers: containersSection,
  interns: internsSection,
  scores: scoresSection,
  organization: organizationSection,
  mcp_server: mcpServerSection,
  scim: scimSection,
  notifications: notificationsSection,
  mcp_servers: mcpServersSection(section(mcpServerShape(headers)).superRefine(checkTransport)).meta({
    description: 'MCP servers, whose tools models can use: docs/mcp.md.',
  }),
  observability: optionalSection(
    {
      service_name: key(
        serviceText,
        'The name under which destinations and collectors see this gateway (`service.name`).',
        {
          default: 'model-gateway',
        },
      ),
      environment: key(serviceText, 'The same of where it runs (`deployment.environment.name`).', {
        usual: 'none',
        example: 'production',
      }),
      content_retention_days: key(
        z.number().positive().max(RETENTION_DAYS_MAX),
        'How long prompts and responses are stored for workspaces that log content.',
        { default: 30 },
      ),
      private_destinations: key(z.boolean(), "Destinations may be in the operator's own network.", OFF),
      follow_sampled_flag: key(
        z.boolean(),
        'Requests whose `traceparent` has the flag 00 are not sent to destinations that take OpenTelemetry.',
        OFF,
      ),
      catch_up_hours: key(z.number().positive().max(EXPORT_HOURS_MAX), 'Older records are not sent any more.', {
        default: 24,
      }),
      export_retention_hours: key(
        z.number().positive().max(EXPORT_HOURS_MAX),
        'How long records wait for destinations that do not take them.',
        { default: 72 },
      ),
      export_bytes_max_mb: key(z.number().positive(), 'Room for such records; the oldest make way.', {
        default: 1_024,
      }),
      suspend_after_hours: key(
        z.number().min(0).max(EXPORT_HOURS_MAX),
        'A destination is turned off after this time without success; 0: never.',
        { default: 24 },
      ),
      route_log: optionalSection(
        {
          sample: key(
            z.number().min(0).max(1),
            'The share of plain successes whose route is kept; those of all that failed, fell back, passed a plugin, router, tool or guardrail or wanted metadata are kept anyway.',
            { default: 0.01 },
          ),
          days: key(z.number().positive().max(RETENTION_DAYS_MAX), 'How long routes are kept.', { default: 7 }),
        },
        'How requests were routed and why: docs/observability.md.',
      ),
      metrics_otlp: optionalSection(
        {
          endpoint: key(httpUrl, 'The address of a collector, with or without `/v1/metrics`.', {
            usual: 'metrics are not sent',
            example: 'http://127.0.0.1:4318',
          }),
          headers: z
            .preprocess((value) => value ?? {}, headers)
            .meta({ description: 'Headers of every call.', default: {}, example: { 'x-team': 'search' } }),
          interval_s: key(z.int().min(1).max(PUSH_S_MAX), 'How often, in seconds.', { default: 60 }),
          temporality: key(
            z.enum(['cumulative', 'delta']),
            'Whether a report has everything since the start, or what came since the one before.',
            { default: 'cumulative' },
          ),
        },
        'Metrics of models by the GenAI conventions, beside `GET /metrics`: docs/observability.md.',
      ),
    },
    'docs/observability.md',
  ),
  responses,
  rate_limits: rateLimits,
  providers: z
    .preprocess(
      (value) => value ?? {},
      z.record(
        providerSlug,
        z.preprocess((value) => value ?? {}, provider),
      ),
    )
    .meta({ description: 'Providers by slug; known ones need no entry: docs/providers.md.' }),
  aliases,
  resolve_bare_names: key(
    z.boolean(),
    'A name without its author finds the model, if it is unique. Reloaded without a restart.',
    OFF,
  ),
  beta_flags: z
    .preprocess((value) => value ?? {}, z.record(providerSlug, betaChanges))
    .meta({ description: 'Changes of the table of `anthropic-beta` flags, by provider. Reloaded without a restart.' }),
  // Entries are of two kinds, distinguished by their key: `read-file.ts` checks each against its own shape.
  models: z
    .preprocess((value) => value ?? {}, z.record(z.string(), z.unknown()))
    .meta({ description: 'Models by slug, and prefixes such as `local/*`. Reloaded without a restart.' }),
});

export type ConfigFile = z.output<typeof configFile>;
