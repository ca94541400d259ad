import { z } from 'zod';
import type { Availability } from '../../canonical/gateway-error.ts';
import { defineRoute, NO_BODY, NOTHING } from './route.ts';

/** What `availability.code` of an error means, and what to do. @spec error-22 */
export const AVAILABILITY_MEANINGS: Readonly<Record<Availability['code'], string>> = {
  model_not_found:
    'No model that is served here is called so. GET /models lists those that are: models of providers that are set up and have a key.',
  wrong_endpoint: 'The model is served at another path than this one.',
  no_endpoints: 'No provider serves the model now, whatever a request contains.',
  model_deprecated: 'The model is no longer served. Use another one.',
  model_unavailable_upstream: 'The providers say that they do not serve the model, or not to this gateway.',
  capacity_exhausted: 'Every provider that was tried has reached a rate limit. Wait for the time in retry_after.',
  temporarily_unavailable: 'The providers are overloaded or in cooldown after errors. Try again later.',
  region_restricted: 'The providers do not serve the model to this region or account.',
  privacy_restricted: 'Every endpoint is left out by what is said of data: zdr, data_collection, or a guardrail.',
  constraint_filtered:
    'Every endpoint is left out by what the request or a guardrail demands; excluded_by and constraint say by what.',
  free_variant_ended: 'The model is no longer served for nothing.',
};

/** The page that `availability.docs_url` links to. */
export const explainErrors = defineRoute({
  method: 'GET',
  path: '/errors',
  scope: 'public',
  role: 'member',
  operationId: 'explainErrors',
  tag: 'Errors',
  summary: 'What the codes of `error.availability` mean, as a page',
  params: NOTHING,
  query: z.looseObject({}),
  body: NO_BODY,
  responses: {
    200: { description: 'A page with an anchor for each code.', schema: z.string(), contentType: 'text/html' },
  },
  errors: [],
  handle: () => ({ status: 200, contentType: 'text/html; charset=utf-8', body: PAGE }),
});

const PAGE = `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<title>Why a model cannot be served</title>
<h1>Why a model cannot be served</h1>
<p><code>error.availability</code> of a response holds one of these codes; <code>retryable</code> says whether the same request may succeed later.</p>
<dl>
${Object.entries(AVAILABILITY_MEANINGS)
  .map(([code, meaning]) => `<dt id="${code}"><code>${code}</code></dt>\n<dd>${meaning}</dd>`)
  .join('\n')}
</dl>
</html>
`;
