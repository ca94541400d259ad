import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { FormatId } from '../../src/canonical/extra.ts';
import type { GenerationRequest, Tool } from '../../src/canonical/request.ts';
import type { Endpoint } from '../../src/catalog/model.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { replaceNativeTools } from '../../src/pipeline/server-tools/emulate-native-tools.ts';
import { withNativeTools } from '../../src/pipeline/server-tools/native-tools.ts';
import { offerServerTools } from '../../src/pipeline/server-tools/offer-server-tools.ts';
import { nothingFits } from '../../src/pipeline/route/route-errors.ts';
import { needsOf } from '../../src/routing/request-needs.ts';
import { SERVER_TOOLS } from '../../src/tools/index.ts';
import { endpointOf } from '../support/prepare-request.ts';
import { decodeResponses } from '../translation/full-responses.ts';

const PLAIN: Endpoint = endpointOf({ adapter: 'openai-compatible', model: 'one', format: 'chat' });
const VENDOR: Endpoint = {
  ...endpointOf({ adapter: 'openai', model: 'gpt-5.6', format: 'responses' }),
  openTools: true,
};

const ANY_INPUT = {
  principal: { accountId: 'a', workspaceId: 'w', keyHash: 'k' },
  cancellation: { signal: new AbortController().signal },
};

function requestWith(tools: readonly JsonObject[], members: JsonObject = {}): GenerationRequest {
  return decodeResponses({ model: 'acme/one', input: 'Hello', tools, ...members });
}

function nameOf(tool: Tool): unknown {
  return tool.type === 'opaque' ? tool.value['type'] : tool.name;
}

suite("tools of the responses format's vendor", () => {
  const PICTURES = { type: 'image_generation', size: '1024x1024', input_fidelity: 'high', output_format: 'png' };

  test('stay as they are where an endpoint runs them', () => {
    const request = requestWith([PICTURES, { type: 'file_search', vector_store_ids: ['a'] }]);
    assert.equal(replaceNativeTools(request, SERVER_TOOLS, () => [PLAIN, VENDOR]).request, request);
  });

  test("become the gateway's own elsewhere, with the choice of one", () => {
    const request = requestWith([PICTURES, { type: 'tool_search' }], { tool_choice: { type: 'image_generation' } });
    const { tools, settings } = replaceNativeTools(request, SERVER_TOOLS, () => [PLAIN]).request;
    assert.deepEqual(
      tools.map((tool) => (tool.type === 'server' ? [tool.name, tool.parameters, tool.extra?.fields['type']] : tool)),
      [
        ['service:image_generation', { size: '1024x1024', output_format: 'png' }, 'image_generation'],
        ['service:tool_search', {}, 'tool_search'],
      ],
    );
    assert.deepEqual(settings.toolChoice, {
      type: 'opaque',
      format: 'chat',
      value: { type: 'service:image_generation' },
    });
  });

  // @spec responses-pains-23
  test('that a coding client sends with every request are left out, with a warning', () => {
    const tools = [
      { type: 'function', name: 'ls', parameters: { type: 'object' } },
      { type: 'custom', name: 'apply_patch', format: { type: 'grammar', syntax: 'lark', definition: 'start: "a"' } },
      { type: 'image_generation', output_format: 'png' },
    ];
    const replaced = replaceNativeTools(requestWith(tools), SERVER_TOOLS, () => [PLAIN]);
    assert.deepEqual(replaced.request.tools.map(nameOf), ['ls', 'apply_patch']);
    assert.deepEqual(
      replaced.warnings.map(({ path }) => path),
      ['tools[2]'],
    );
  });

  // @spec responses-133
  test('that a coding client sends with every request are left out, also where no other tool runs here', async () => {
    const request = requestWith([{ type: 'image_generation', output_format: 'png' }]);
    const input = { ...ANY_INPUT, endpointsOf: () => [PLAIN] };
    const offered = await offerServerTools({ serverTools: SERVER_TOOLS, toolAbilities: {} }, request, input);
    assert.deepEqual([offered?.request.tools, offered?.entries], [[], []]);
    assert.deepEqual(
      offered?.warnings.map(({ path }) => path),
      ['tools[0]'],
    );
  });

  test('that nothing else runs need an endpoint of the vendor, and are refused where there is none', () => {
    const namespace = {
      type: 'namespace',
      name: 'a',
      tools: [
        { type: 'function', name: 'b' },
        { type: 'function', name: 'c' },
      ],
    };
    const request = requestWith([namespace, { type: 'file_search', vector_store_ids: ['a'] }]);
    assert.equal(needsOf(request, false).openTools, true);
    assert.equal(needsOf(requestWith([namespace]), false).openTools, false);
    const error = nothingFits([{ endpoint: PLAIN, exclusion: 'vendor_tools' }], ['acme/one'], undefined, request);
    assert.equal(error.status, 400);
    assert.equal(error.issues?.[0]?.path, 'tools[1].type');
  });

  test('with a name alone are a server that the operator has set up', () => {
    const [tool] = requestWith([{ type: 'mcp', server_label: 'files', allowed_tools: ['read'] }]).tools;
    assert.ok(tool?.type === 'server');
    assert.deepEqual([tool.name, tool.parameters], ['service:mcp', { server: 'files', allowed_tools: ['read'] }]);
  });

  // @spec responses-pains-23
  test('of a search are left out where nothing searches, and sent to a vendor that does', async () => {
    const request = requestWith([
      { type: 'function', name: 'ls', parameters: { type: 'object' } },
      { type: 'web_search', external_web_access: false },
    ]);
    const input = { ...ANY_INPUT, endpointsOf: () => [PLAIN, VENDOR] };
    const offered = await offerServerTools({ serverTools: SERVER_TOOLS, toolAbilities: {} }, request, input);
    assert.ok(offered !== undefined);
    const toolsAt = (endpoint: Endpoint, format: FormatId): readonly Tool[] =>
      withNativeTools(offered.request, { endpoint, format }, offered).tools;
    assert.deepEqual(toolsAt(PLAIN, 'chat').map(nameOf), ['ls']);
    assert.deepEqual(toolsAt(VENDOR, 'responses').at(-1), {
      type: 'opaque',
      format: 'responses',
      value: { type: 'web_search', external_web_access: false },
    });
    assert.deepEqual(
      offered.warnings.map(({ path }) => path),
      ['tools[1]'],
    );
  });

  test('of a search keep its sites and its place', () => {
    const entry = {
      type: 'web_search',
      filters: { allowed_domains: ['a.example'], blocked_domains: ['b.example'] },
      user_location: { type: 'approximate', country: 'NO' },
      search_context_size: 'low',
    };
    const [tool] = requestWith([entry]).tools;
    assert.ok(tool?.type === 'server');
    assert.deepEqual(tool.parameters, {
      allowed_domains: ['a.example'],
      excluded_domains: ['b.example'],
      search_context_size: 'low',
      user_location: { type: 'approximate', country: 'NO' },
    });
  });
});
