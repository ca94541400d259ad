import type { NoteKind } from './notes.ts';

type Explanation = readonly [kind: NoteKind, text: string];

const SAMPLING: Explanation = [
  'lost',
  'defaults of a request belong to a preset here (docs/presets.md), or to the request itself',
];
const DEPLOYMENT_LIMIT: Explanation = [
  'lost',
  'endpoints have no limits here; a 429 of the provider puts one in cooldown, and keys and the account have limits (rate_limits)',
];
const CALLBACKS: Explanation = [
  'lost',
  'create a destination for it: POST /v1/observability/destinations, or the dashboard (docs/destinations.md)',
];
const LOGGING: Explanation = ['needless', 'logs are JSON lines; GATEWAY_LOG_LEVEL sets their level'];
const COOLDOWN: Explanation = ['needless', 'cooldowns and circuits follow failures by themselves (docs/fallback.md)'];
const CACHE: Explanation = [
  'lost',
  'responses are cached where a request or a preset says so (docs/response-cache.md); several processes share them through redis_url',
];
const DATABASE: Explanation = [
  'lost',
  "LiteLLM's database cannot be read here; give the gateway one of its own with database_url, or none (docs/deploy.md)",
];
const KEYS: Explanation = [
  'lost',
  'virtual keys, teams and users are in LiteLLM\'s database; create keys with "model-gateway keys create", and workspaces over the API (docs/migrate.md)',
];
const SIGN_IN: Explanation = [
  'lost',
  'people sign in to the dashboard, and applications use keys (docs/administration.md)',
];
const ALERTING: Explanation = ['lost', 'deploy/prometheus has alert rules, and docs/incidents.md explains them'];
const FACTS: Explanation = ['needless', 'the catalog knows what a model supports'];
const BUDGET: Explanation = [
  'lost',
  'limits of spending belong to keys and workspaces: "model-gateway keys create --limit 50 --limit-reset monthly"',
];

/** What became of settings that have no counterpart in our file, by the section in which they stand. */
const EXPLANATIONS: Readonly<Record<string, Readonly<Record<string, Explanation>>>> = {
  litellm_params: {
    rpm: DEPLOYMENT_LIMIT,
    tpm: DEPLOYMENT_LIMIT,
    max_parallel_requests: DEPLOYMENT_LIMIT,
    weight: ['lost', 'endpoints of one model share requests by price, and equally at the same price'],
    order: ['lost', 'requests and defaults.provider.order name the order of providers'],
    api_version: ['needless', 'the v1 API needs no version; options.api_version names one for what it lacks'],
    drop_params: ['needless', 'parameters that an endpoint does not take are left out, with a warning in the record'],
    additional_drop_params: ['lost', 'supported_parameters of the endpoint lists what it takes'],
    allowed_openai_params: ['needless', 'fields that the gateway does not know reach providers of the same format'],
    tags: ['lost', 'requests choose endpoints by provider.only and by the tag of an endpoint'],
    mock_response: ['lost', 'the models sandbox/... answer without a provider'],
    model_info: FACTS,
    max_budget: BUDGET,
    budget_duration: BUDGET,
    azure_ad_token: ['lost', 'options.entra fetches tokens itself, and renews them'],
    aws_role_name: ['lost', 'name a profile of the shared files with that role: options.profile'],
    aws_session_name: ['lost', 'name a profile of the shared files with that role: options.profile'],
    ...Object.fromEntries(
      'temperature top_p top_k max_tokens max_completion_tokens seed stop presence_penalty frequency_penalty reasoning_effort thinking response_format'
        .split(' ')
        .map((name) => [name, SAMPLING]),
    ),
  },
  model_info: {
    id: ['needless', 'endpoints are named by their provider'],
    mode: ['needless', 'chat is what every model does'],
    base_model: ['needless', 'the slug of the model leads to what the catalog knows of it'],
    access_groups: ['lost', 'a guardrail of a key or workspace lists the models that it may use (docs/guardrails.md)'],
    supported_environments: ['lost', 'use one file for each environment'],
    max_tokens: FACTS,
    litellm_provider: FACTS,
  },
  router_settings: {
    routing_strategy_args: ['lost', 'routing has no such settings here (docs/fallback.md)'],
    enable_pre_call_checks: ['needless', 'endpoints whose context is too short are left out before a call'],
    enable_pre_call_check: ['needless', 'endpoints whose context is too short are left out before a call'],
    allowed_fails: COOLDOWN,
    allowed_fails_policy: COOLDOWN,
    cooldown_time: COOLDOWN,
    disable_cooldowns: ['lost', 'cooldowns cannot be turned off'],
    retry_policy: ['lost', 'retries are for failures that may pass, whatever their kind (docs/fallback.md)'],
    retry_after: ['needless', 'the Retry-After of providers counts, up to retry.wait_max_ms'],
    max_fallbacks: ['needless', 'every fallback of the list is tried, within timeouts.total_ms'],
    enable_tag_filtering: ['lost', 'requests choose endpoints by provider.only and by the tag of an endpoint'],
    default_litellm_params: SAMPLING,
    set_verbose: LOGGING,
    debug_level: LOGGING,
    cache_responses: CACHE,
  },
  litellm_settings: {
    drop_params: ['needless', 'parameters that an endpoint does not take are left out, with a warning in the record'],
    modify_params: ['needless', 'requests are fitted to each format, and what that changes is in the record'],
    set_verbose: LOGGING,
    json_logs: LOGGING,
    success_callback: CALLBACKS,
    failure_callback: CALLBACKS,
    callbacks: CALLBACKS,
    service_callbacks: ['needless', 'GET /metrics has them for Prometheus (docs/observability.md)'],
    turn_off_message_logging: ['needless', 'no content is stored or sent unless a workspace turns that on'],
    redact_user_api_key_info: ['needless', 'records name keys by hash'],
    cache: CACHE,
    cache_params: CACHE,
    allowed_fails: COOLDOWN,
    cooldown_time: COOLDOWN,
    max_budget: BUDGET,
    budget_duration: BUDGET,
    default_internal_user_params: KEYS,
    default_team_settings: KEYS,
    key_generation_settings: KEYS,
    guardrails: ['lost', 'guardrails are created over the API or in the dashboard (docs/guardrails.md)'],
  },
  general_settings: {
    database_url: DATABASE,
    database_connection_pool_limit: DATABASE,
    database_connection_timeout: DATABASE,
    store_model_in_db: ['lost', 'models are in the file; it is read again when it changes'],
    store_prompts_in_spend_logs: ['lost', 'a workspace turns the storing of content on (docs/observability.md)'],
    disable_spend_logs: ['lost', 'every generation has a record, without its content'],
    maximum_spend_logs_retention_period: [
      'lost',
      'records are kept; content is deleted after observability.content_retention_days',
    ],
    allow_requests_on_db_unavailable: [
      'needless',
      'requests of known keys are served while the database is away (docs/deploy.md)',
    ],
    background_health_checks: ['needless', 'the health of endpoints comes from the requests themselves'],
    health_check_interval: ['needless', 'the health of endpoints comes from the requests themselves'],
    alerting: ALERTING,
    alerting_threshold: ALERTING,
    alerting_args: ALERTING,
    alert_types: ALERTING,
    alert_to_webhook_url: ALERTING,
    custom_auth: SIGN_IN,
    enable_jwt_auth: SIGN_IN,
    litellm_jwtauth: SIGN_IN,
    ui_access_mode: SIGN_IN,
    pass_through_endpoints: ['lost', 'requests pass through in the formats of docs/clients.md alone'],
  },
  '': {
    guardrails: ['lost', 'guardrails are created over the API or in the dashboard (docs/guardrails.md)'],
    include: ['lost', 'import each of these files, and put the results together'],
    environment_variables: ['lost', 'set them in the environment of the gateway; secrets stay out of the file'],
    callback_settings: CALLBACKS,
    vector_store_registry: ['lost', 'there are no vector stores here; /v1/embeddings and /v1/rerank serve yours'],
    prompts: ['lost', 'instructions belong to a preset here (docs/presets.md)'],
  },
};

const SUPPORTS = /^supports_/;
const NONE: Explanation = ['lost', 'has no counterpart here'];

/** @param section its name without position: `litellm_params`; empty: the top of the file */
export function explain(section: string, key: string): Explanation {
  if (section === 'model_info' && SUPPORTS.test(key)) return FACTS;
  const known = EXPLANATIONS[section];
  return known !== undefined && Object.hasOwn(known, key) ? (known[key] ?? NONE) : NONE;
}
