import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import { GatewayError } from '../../src/canonical/gateway-error.ts';
import type { Block } from '../../src/canonical/blocks.ts';
import type { GenerationRequest } from '../../src/canonical/request.ts';
import type { JsonObject } from '../../src/lib/json.ts';
import { PNG_DATA_URL } from '../support/files/media.ts';
import { CONTAINERS, decodeResponses, sealReasoning } from './full-responses.ts';

const CALL = { type: 'function_call', call_id: 'call_1', name: 'ls', arguments: '{}' };
const OUTPUT = { type: 'function_call_output', call_id: 'call_1', output: 'a b' };
const HELLO = { role: 'user', content: 'Hello' };

function decode(input: readonly unknown[], members: JsonObject = {}): GenerationRequest {
  return decodeResponses({ ...members, input: JSON.parse(JSON.stringify(input)) });
}

function blocksOf(input: readonly unknown[], members: JsonObject = {}): readonly Block[] {
  return decode(input, members).turns.flatMap(({ blocks }) => blocks);
}

function refusalOf(body: JsonObject): { readonly path: string; readonly type: string; readonly message: string } {
  try {
    decodeResponses(body);
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    return { path: error.issues?.[0]?.path ?? '', type: error.type, message: error.message };
  }
  throw new Error('was not refused');
}

suite('items of the responses format', () => {
  // @spec responses-6, responses-22
  test('of the model make one turn, and outputs in a row another', () => {
    const reasoning = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Hm.' }] };
    const said = { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] };
    const second = { ...CALL, call_id: 'call_2' };
    const { turns } = decode([
      HELLO,
      reasoning,
      said,
      CALL,
      second,
      OUTPUT,
      { ...OUTPUT, call_id: 'call_2' },
      HELLO,
      HELLO,
    ]);
    assert.deepEqual(
      turns.map(({ role, blocks, source }) => [role, blocks.map(({ type }) => type).join(), source?.path]),
      [
        ['user', 'text', 'input[0]'],
        ['assistant', 'reasoning,text,tool-call,tool-call', 'input[1]'],
        ['tool', 'tool-result,tool-result', 'input[5]'],
        ['user', 'text', 'input[7]'],
        ['user', 'text', 'input[8]'],
      ],
    );
    assert.deepEqual(turns[1]?.source?.blocks, ['input[1]', 'input[2].content[0]', 'input[3]', 'input[4]']);
  });

  // @spec responses-33
  test('keep the label of a text for the vendor alone', () => {
    const item = { role: 'assistant', phase: 'commentary', content: [{ type: 'output_text', text: 'I look.' }] };
    assert.deepEqual(blocksOf([item]), [
      { type: 'text', text: 'I look.', extra: { format: 'responses', fields: { phase: 'commentary' } } },
    ]);
  });

  // @spec responses-25
  test('hold images, files, sound and videos', () => {
    const content = [
      { type: 'input_image', image_url: PNG_DATA_URL },
      { type: 'input_image', image_url: { url: 'https://example.com/a.png', detail: 'low' } },
      { type: 'input_file', filename: 'a.txt', file_data: 'aGVsbG8=' },
      { type: 'input_file', file_data: 'aGVsbG8=' },
      { type: 'input_file', file_id: 'file_1' },
      { type: 'input_audio', input_audio: { data: 'UklGRg==', format: 'wav' } },
      { type: 'input_video', video_url: 'https://example.com/a.mp4' },
    ];
    const media = blocksOf([{ role: 'user', content }]).flatMap((block) => (block.type === 'media' ? [block] : []));
    assert.deepEqual(
      media.map(({ media: kind, source }) => [kind, source.type, source.type === 'base64' ? source.mediaType : '']),
      [
        ['image', 'base64', 'image/png'],
        ['image', 'url', ''],
        ['document', 'base64', 'text/plain'],
        ['document', 'base64', 'application/pdf'],
        ['document', 'file', ''],
        ['audio', 'base64', 'audio/wav'],
        ['video', 'url', ''],
      ],
    );
    assert.equal(media[1]?.detail, 'low');
  });

  // @spec responses-26
  test('put media of instructions into a user turn right behind them', () => {
    const content = [
      { type: 'input_text', text: 'Like this:' },
      { type: 'input_image', image_url: PNG_DATA_URL },
    ];
    const { turns } = decode([{ role: 'developer', content }, HELLO]);
    assert.deepEqual(
      turns.map(({ role, source }) => [role, source?.blocks]),
      [
        ['developer', ['input[0].content[0]']],
        ['user', ['input[0].content[1]']],
        ['user', ['input[1].content']],
      ],
    );
  });

  // @spec responses-27
  test('may hold arguments and outputs that are no text', () => {
    const call = { ...CALL, arguments: { d: '.' } };
    const [asked, given] = blocksOf([call, { ...OUTPUT, output: { count: 2 } }]);
    assert.equal(asked?.type === 'tool-call' && asked.input, '{"d":"."}');
    assert.deepEqual(given?.type === 'tool-result' && given.content, [{ type: 'text', text: '{"count":2}' }]);
    const [, none] = blocksOf([CALL, { ...OUTPUT, output: null }]);
    assert.deepEqual(none?.type === 'tool-result' && none.content, [{ type: 'text', text: '' }]);
  });

  // @spec responses-28
  test('leave out a call that was cut short, with its output', () => {
    const call = { ...CALL, status: 'incomplete', arguments: '{"d":' };
    const { turns, warnings } = decode([HELLO, call, OUTPUT]);
    assert.equal(turns.length, 1);
    assert.deepEqual(
      warnings.map(({ path }) => path),
      ['input[1]', 'input[2]'],
    );
  });

  // @spec responses-103
  test('tell of a summary that the gateway made', () => {
    const sealed = CONTAINERS.seal('compaction', 'acc-1', { v: 1, summary: 'They listed files.' }) ?? '';
    const { turns } = decode([{ type: 'compaction', encrypted_content: sealed }, HELLO]);
    assert.equal(turns[0]?.role, 'user');
    const [block] = turns[0].blocks;
    assert.match(block?.type === 'text' ? block.text : '', /summary.*\n\nThey listed files\.$/s);
    const broken = [{ type: 'compaction', encrypted_content: sealed.slice(0, -4) }];
    assert.deepEqual(refusalOf({ input: broken }).path, 'input[0].encrypted_content');
  });

  // @spec responses-104
  test('ask for a compaction as the last', () => {
    const { response, turns } = decode([HELLO, { type: 'compaction_trigger' }]);
    assert.equal(response?.compacts?.length, 1);
    // The trigger itself is no turn: behind the history stands what the model is to do.
    assert.equal(turns.length, 2);
    assert.match(JSON.stringify(turns[1]), /Summarize this conversation/);
  });

  // @spec responses-34
  test('of agents are what a user says', () => {
    const item = { type: 'agent_message', author: 'scout', recipient: 'main', content: 'Found it.' };
    assert.deepEqual(blocksOf([item]), [{ type: 'text', text: '[scout -> main] Found it.' }]);
  });

  // @spec responses-35
  test('change settings where they say so', () => {
    const update = { type: 'configuration_update', reasoning: { effort: 'low' }, tool_choice: 'none' };
    const { settings } = decode([HELLO, update], { reasoning: { effort: 'high' } });
    assert.deepEqual(settings, { reasoning: { effort: 'low' }, toolChoice: { type: 'none' } });
  });

  test('that only the vendor knows stay as they are', () => {
    const call = { type: 'computer_call', id: 'cu_1', call_id: 'c', action: { type: 'click' } };
    const output = { type: 'computer_call_output', call_id: 'c', output: {} };
    assert.deepEqual(
      decode([HELLO, call, output]).turns.map(({ role, blocks }) => [role, blocks[0]?.type]),
      [
        ['user', 'text'],
        ['assistant', 'opaque'],
        ['user', 'opaque'],
      ],
    );
  });
});

suite('a wrong item', () => {
  const WRONG: readonly (readonly [unknown[], string])[] = [
    [[null], 'input[0]'],
    [['Hello'], 'input[0]'],
    [[{ content: 'Hello' }], 'input[0].type'],
    [[{ role: 'robot', content: 'Hello' }], 'input[0].role'],
    [[{ role: 'user', content: 7 }], 'input[0].content'],
    [[{ role: 'user', content: [{ text: 'a' }] }], 'input[0].content[0].type'],
    [[{ role: 'user', content: [{ type: 'input_text' }] }], 'input[0].content[0].text'],
    [[{ role: 'user', content: [{ type: 'input_image' }] }], 'input[0].content[0].image_url'],
    [
      [{ role: 'user', content: [{ type: 'input_image', image_url: 'file:///etc/passwd' }] }],
      'input[0].content[0].image_url',
    ],
    [[{ role: 'user', content: [{ type: 'input_file', filename: 'a' }] }], 'input[0].content[0].file_data'],
    [[{ role: 'user', content: [{ type: 'input_audio', input_audio: {} }] }], 'input[0].content[0].input_audio.data'],
    [[{ ...CALL, call_id: undefined }], 'input[0].call_id'],
    [[{ ...CALL, call_id: 'x'.repeat(257) }], 'input[0].call_id'],
    [[{ ...CALL, name: undefined }], 'input[0].name'],
    [[CALL, CALL], 'input[1].call_id'],
    [[HELLO, OUTPUT], 'input[1].call_id'],
    [[{ type: 'reasoning', summary: 'Hm.' }], 'input[0].summary'],
    [[{ type: 'custom_tool_call', call_id: 'c', name: 'patch' }], 'input[0].input'],
    [[{ type: 'item_reference', id: 'msg_1' }], 'input[0].id'],
  ];
  for (const [input, path] of WRONG)
    // @spec responses-23, responses-24, responses-94
    test(`is refused at ${path}: ${JSON.stringify(input).slice(0, 70)}`, () => {
      const body: JsonObject = { input: JSON.parse(JSON.stringify(input)) };
      const { path: found, type } = refusalOf(body);
      assert.deepEqual([found, type], [path, 'invalid_prompt']);
    });

  test('that refers to another says how to do without', () => {
    assert.match(refusalOf({ input: [{ type: 'item_reference', id: 'msg_1' }] }).message, /"store": false/);
  });
});

suite('reasoning that a caller sends back', () => {
  const blocks = [
    { form: 'text', text: 'Hm.', signature: 'EqQB', index: 0 },
    { form: 'encrypted', text: 'cmVkYWN0ZWQ=', index: 1 },
  ];

  // @spec responses-52
  test('is what the model wrote, whatever stands beside the container', () => {
    const encrypted = sealReasoning({ item: 'rs_1', family: 'anthropic-claude-v1', blocks });
    const item = {
      type: 'reasoning',
      summary: [{ type: 'summary_text', text: 'Edited.' }],
      encrypted_content: encrypted,
    };
    assert.deepEqual(blocksOf([item]), [
      { type: 'reasoning', form: 'text', text: 'Hm.', signature: 'EqQB', family: 'anthropic-claude-v1' },
      { type: 'reasoning', form: 'encrypted', text: 'cmVkYWN0ZWQ=', family: 'anthropic-claude-v1' },
    ]);
  });

  // @spec responses-55
  test('signs the call that it was found on, and the text before it', () => {
    const ofCall = {
      family: 'google-gemini-v1',
      blocks: [{ form: 'encrypted', text: 'c2ln', callId: 'call_1', index: 0 }],
    };
    const ofText = {
      family: 'google-gemini-v1',
      blocks: [{ form: 'encrypted', text: 'dGV4', of: 'previous', index: 0 }],
    };
    const item = (content: JsonObject): object => ({
      type: 'reasoning',
      summary: [],
      encrypted_content: sealReasoning(content),
    });
    const said = { role: 'assistant', content: [{ type: 'output_text', text: 'I look.' }] };
    assert.deepEqual(
      blocksOf([said, item(ofText), item(ofCall), CALL]).map((block) =>
        block.type === 'reasoning' ? [block.text, block.id] : block.type,
      ),
      [['dGV4', undefined], 'text', ['c2ln', 'call_1'], 'tool-call'],
    );
  });

  // @spec responses-53, responses-pains-5
  test('counts by its readable parts where the container is forged, cut, foreign or random', () => {
    const own = sealReasoning({ family: 'anthropic-claude-v1', blocks });
    const foreign = sealReasoning({ family: 'anthropic-claude-v1', blocks }, 'acc-2');
    for (const text of [own.slice(0, -4), `${own}.x`, foreign, 'sr1.random', 'sr1.']) {
      const item = { type: 'reasoning', summary: [{ type: 'summary_text', text: 'Short.' }], encrypted_content: text };
      const { turns, warnings } = decode([item, HELLO]);
      assert.deepEqual(turns[0]?.blocks, [{ type: 'reasoning', form: 'summary', text: 'Short.' }]);
      assert.match(warnings[0]?.message ?? '', /^reasoning_unreadable/);
    }
  });

  // @spec responses-56, responses-pains-6
  test('may have null in the place of a summary', () => {
    const item = { type: 'reasoning', summary: null, content: [{ type: 'reasoning_text', text: 'Raw.' }] };
    assert.deepEqual(blocksOf([item]), [{ type: 'reasoning', form: 'text', text: 'Raw.' }]);
  });

  // @spec responses-57
  test('of a vendor keeps the id that it was encrypted under', () => {
    const item = { type: 'reasoning', id: 'rs_1', summary: [], encrypted_content: 'gAAAAB' };
    assert.deepEqual(blocksOf([item]), [
      { type: 'reasoning', form: 'encrypted', text: 'gAAAAB', id: 'rs_1', family: 'unknown' },
    ]);
  });
});

suite('tools of the responses format', () => {
  const FUNCTION = { type: 'function', name: 'ls', parameters: { type: 'object' } };
  const NAMESPACE = {
    type: 'namespace',
    name: 'mcp__files',
    description: 'Files.',
    tools: [{ type: 'function', name: 'read' }],
  };

  const namesOf = (tools: readonly unknown[], input: readonly unknown[] = [HELLO]): readonly unknown[] =>
    decode(input, { tools: JSON.parse(JSON.stringify(tools)) }).tools.map((tool) =>
      tool.type === 'opaque' ? tool.value['type'] : tool.name,
    );

  // @spec responses-37
  test('have one list with those that items declare', () => {
    const input = [
      { type: 'additional_tools', role: 'developer', tools: [NAMESPACE] },
      HELLO,
      { type: 'tool_search_call', call_id: 'c', execution: 'client', arguments: {} },
      { type: 'tool_search_output', call_id: 'c', tools: [{ type: 'function', name: 'mail', defer_loading: true }] },
    ];
    assert.deepEqual(namesOf([FUNCTION, { type: 'web_search' }], input), [
      'ls',
      'service:web_search',
      'mcp__files__read',
      'mail',
    ]);
    const found = decode(input).tools.at(-1);
    assert.deepEqual(found, { type: 'function', name: 'mail', isFound: true });
  });

  // @spec responses-38, responses-pains-21
  test('of two namespaces with one joined name get two names', () => {
    const tools = [
      { ...NAMESPACE, name: 'a', tools: [{ type: 'function', name: 'b__c' }] },
      { ...NAMESPACE, name: 'a__b', tools: [{ type: 'function', name: 'c' }] },
      { ...NAMESPACE, name: 'functions', tools: [{ type: 'function', name: 'ls' }] },
    ];
    const [first, second, bare] = namesOf(tools);
    assert.equal(first, 'a__b__c');
    assert.match(String(second), /^_*.*_[0-9a-f]{8}$/);
    assert.notEqual(first, second);
    assert.equal(bare, 'ls');
  });

  // @spec responses-39, responses-pains-21
  test('are called by both spellings of a name of a namespace', () => {
    const body = { tools: [NAMESPACE] };
    for (const named of [{ name: 'read', namespace: 'mcp__files' }, { name: 'mcp__files__read' }]) {
      const [call] = blocksOf([{ ...CALL, ...named }], body);
      assert.ok(call?.type === 'tool-call');
      assert.equal(call.name, 'mcp__files__read');
      assert.deepEqual(call.namespaced, { namespace: 'mcp__files', name: 'read' });
    }
  });

  // @spec responses-41
  test('in chat spelling, or without a type, are functions', () => {
    const chats = { type: 'function', function: { name: 'ls', description: 'Lists.', parameters: { type: 'object' } } };
    assert.deepEqual(namesOf([chats, { name: 'cp', parameters: { type: 'object' } }]), ['ls', 'cp']);
  });

  // @spec responses-42
  test('are the last of two with one name', () => {
    const { tools, warnings } = decode([HELLO], { tools: [FUNCTION, { ...FUNCTION, description: 'Newer.' }] });
    assert.deepEqual(
      tools.map((tool) => tool.type === 'function' && tool.description),
      ['Newer.'],
    );
    assert.equal(warnings[0]?.path, 'tools[1]');
  });

  // @spec responses-43, responses-pains-28
  test('leave strict as it is', () => {
    const { tools } = decode([HELLO], { tools: [FUNCTION, { ...FUNCTION, name: 'cp', strict: false }] });
    assert.deepEqual(
      tools.map((tool) => tool.type === 'function' && tool.strict),
      [undefined, false],
    );
  });

  // @spec responses-44
  test('are chosen by name, flat name, namespace or type', () => {
    const tools = [
      FUNCTION,
      NAMESPACE,
      { type: 'shell' },
      { type: 'custom', name: 'patch' },
      { type: 'file_search', vector_store_ids: [] },
    ];
    const choose = (tool_choice: JsonObject | string): unknown =>
      decode([HELLO], { tools, tool_choice }).settings.toolChoice;
    assert.deepEqual(choose('required'), { type: 'required' });
    assert.deepEqual(choose({ type: 'any' }), { type: 'required' });
    for (const choice of [
      { type: 'function', name: 'read' },
      { type: 'function', name: 'mcp__files__read' },
      { type: 'function', name: 'read', namespace: 'mcp__files' },
    ])
      assert.deepEqual(choose(choice), { type: 'function', name: 'mcp__files__read' });
    assert.deepEqual(choose({ type: 'function', function: { name: 'ls' } }), { type: 'function', name: 'ls' });
    assert.deepEqual(choose({ type: 'custom', name: 'patch' }), { type: 'function', name: 'patch' });
    assert.deepEqual(choose({ type: 'shell' }), { type: 'function', name: 'shell' });
    assert.deepEqual(choose({ type: 'file_search' }), {
      type: 'opaque',
      format: 'responses',
      value: { type: 'file_search' },
    });
  });

  const WRONG: readonly (readonly [JsonObject, string])[] = [
    [{ tools: [{ description: 'a' }] }, 'tools[0].type'],
    [{ tools: [{ type: 'function', name: 'a b' }] }, 'tools[0].name'],
    [{ tools: [{ type: 'function', name: 'ls', parameters: 'none' }] }, 'tools[0].parameters'],
    [{ tools: [FUNCTION, { type: 'custom', name: 'ls' }] }, 'tools[1].name'],
    [{ tools: [{ type: 'shell' }, { ...FUNCTION, name: 'shell' }] }, 'tools[1].name'],
    [{ tools: [{ type: 'namespace', name: 'a' }] }, 'tools[0].tools'],
    [{ tools: [{ ...NAMESPACE, tools: [NAMESPACE] }] }, 'tools[0].tools[0].type'],
    [{ tools: [{ ...NAMESPACE, tools: [{ type: 'function', name: '' }] }] }, 'tools[0].tools[0].name'],
    [{ tools: [{ type: 'custom', name: 'a', format: { type: 'grammar', syntax: 'yacc' } }] }, 'tools[0].format.syntax'],
    [
      { tools: [{ type: 'custom', name: 'a', format: { type: 'grammar', syntax: 'lark' } }] },
      'tools[0].format.definition',
    ],
    [{ tools: [FUNCTION], tool_choice: { type: 'function', name: 'cp' } }, 'tool_choice.name'],
    [{ tools: [FUNCTION], tool_choice: { type: 'file_search' } }, 'tool_choice'],
    [{ tools: [FUNCTION], tool_choice: 'never' }, 'tool_choice'],
    [
      {
        tools: [FUNCTION],
        tool_choice: { type: 'allowed_tools', mode: 'auto', tools: [{ type: 'function', name: 'cp' }] },
      },
      'tool_choice.tools[0]',
    ],
  ];
  for (const [body, path] of WRONG)
    // @spec responses-42, responses-44
    test(`are refused at ${path}: ${JSON.stringify(body).slice(0, 80)}`, () => {
      assert.equal(refusalOf({ input: 'Hello', ...body }).path, path);
    });
});
