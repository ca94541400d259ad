import type { Random } from '../random.ts';

/** JSON as it is written, so that it may hold what no parsed value can: a key twice, `1e400`, 20,000 brackets. */
type Node =
  | { kind: 'object'; members: { name: string; value: Node }[] }
  | { kind: 'array'; items: Node[] }
  | { kind: 'raw'; text: string };

interface Slot {
  readonly name: string | undefined;
  readonly node: Node;
  replace(node: Node): void;
  remove(): void;
  duplicate(): void;
}

const raw = (text: string): Node => ({ kind: 'raw', text });
const quoted = (text: string): Node => raw(JSON.stringify(text));

const SCALARS = `null true false 0 -0 -1 1 2 1.0 1.5 1e2 1E+2 1e308 1e400 -1e400 5e-324 9007199254740993 4294967296
  123456789012345678901234567890 "" "x" " " "0" "true" "null" [] {} [[]] [null] [{}] {"type":null} {"type":"text"}
  {"type":"text","text":"t"} {"":""} [1,2,3]`
  .split(/\s+/)
  .map(raw);

const STRINGS = [
  '\u0000',
  '\ud800',
  '\udc00\ud800',
  '\ufeff',
  '\u202e\u2066abc',
  '👩‍👩‍👧‍👦',
  'e\u0301\u0301\u0301',
  '\r\n\r\ndata: [DONE]\n\n',
  'event: error\ndata: {}\n\n',
  '\u2028\u2029',
  '[DONE]',
  '__proto__',
  "'; drop table keys; --",
  '${7*7}{{7*7}}',
  '../../etc/passwd',
  'data:image/png;base64,iVBORw0KGgo=',
  'data:image/png;base64,%%%',
  'data:;base64,',
  'https://example.com/a.png',
  'http://169.254.169.254/latest/meta-data',
  'file:///etc/passwd',
  'javascript:alert(1)',
  'NaN',
  'tokens=99999999 every=1 ms=1',
];

const NAMES =
  `__proto__ constructor prototype toString hasOwnProperty model models messages stream stream_options n user
  usage provider plugins type role content name id tools tool_choice system metadata thinking reasoning cache_control
  debug preset route session_id trace transforms max_tokens stop text input index error choices then toJSON length 0 -1
  a.b a[0] service_metadata response_format fallbacks output_config container`.split(/\s+/);

/** What stands in members of these names, right and wrong. */
const WORDS: Readonly<Record<string, readonly string[]>> = {
  role: ['system', 'developer', 'user', 'assistant', 'tool', 'function', 'root', ''],
  type: `text image_url input_audio video_url input_video file image document tool_use tool_result thinking
    redacted_thinking server_tool_use web_search_tool_result search_result compaction advisor_tool_result tool_addition
    tool_removal function custom bash_20250124 web_search_20250305 web_search computer_20250124 service:web_search
    service:bash service:nothing json_schema json_object grammar python ephemeral enabled disabled adaptive base64 url
    content auto any tool none allowed_tools reasoning.text reasoning.encrypted reasoning.summary __proto__
    message input_text input_file output_text refusal item_reference reasoning summary_text reasoning_text function_call
    function_call_output custom_tool_call custom_tool_call_output local_shell_call local_shell_call_output shell_call
    shell_call_output apply_patch_call apply_patch_call_output tool_search_call tool_search_output web_search_call
    mcp_call image_generation_call compaction compaction_trigger additional_tools agent_message configuration_update
    namespace mcp local_shell shell apply_patch tool_search service:datetime`.split(/\s+/),
  model: `sandbox/echo acme/chat acme/messages sandbox/tools sandbox/json nobody/nothing sandbox/ /echo sandbox echo
    sandbox/echo:nitro sandbox/echo:free:online @preset/x service/auto ~acme/x-latest SANDBOX/ECHO`.split(/\s+/),
  effort: ['max', 'xhigh', 'high', 'medium', 'low', 'minimal', 'none', 'extreme'],
  tool_choice: ['none', 'auto', 'required', 'any'],
  format: ['unknown', 'anthropic-claude-v1', 'openai-responses-v1', 'nobody-v1', 'wav', 'mp3'],
  media_type: ['image/png', 'image/svg+xml', 'application/pdf', 'text/plain', 'x'],
};

/** Schemas that are circular, contradict themselves, or require more than is possible. */
const SCHEMAS = [
  '{"$ref":"#"}',
  '{"$ref":"#/$defs/a","$defs":{"a":{"$ref":"#/$defs/b"},"b":{"$ref":"#/$defs/a"}}}',
  '{"type":"object","properties":{"a":{"$ref":"#"}},"required":["a"]}',
  '{"type":"array","items":{"$ref":"#"},"minItems":3}',
  '{"allOf":[{"$ref":"#"}],"anyOf":[{"$ref":"#"}]}',
  '{"$ref":"https://example.com/schema.json"}',
  '{"$ref":"#/nowhere/at/all"}',
  '{"type":"string","pattern":"^(a+)+$"}',
  '{"type":"string","minLength":1000000000}',
  '{"type":"array","minItems":1000000000,"items":{"type":"string"}}',
  '{"type":"integer","minimum":5,"maximum":1}',
  '{"type":"number","multipleOf":0}',
  '{"enum":[]}',
  '{"not":{}}',
  'true',
  '{"type":["object","null","string"]}',
  '{"type":"object","required":["__proto__","constructor"],"properties":{"__proto__":{"type":"string"}}}',
  '{"type":"object","properties":{"a":false},"required":["a"]}',
];
const SCHEMA_MEMBERS: ReadonlySet<string> = new Set(['parameters', 'input_schema', 'schema']);

const DEPTH_MAX = 20_000;
const STRING_CHARS_MAX = 200_000;
const COPIES_MAX = 3_000;

/** `base` with so many changes of its structure, as JSON text. */
export function mutateJson(base: unknown, random: Random, changes: number): string {
  const root = toNode(base);
  for (let change = 0; change < changes; change++) mutateOnce(root, random);
  return render(root);
}

function mutateOnce(root: Node, random: Random): void {
  const slots = collectSlots(root);
  const slot = random.pick(slots);
  const dice = random.next();
  if (dice < 0.2) slot.replace(random.pick(SCALARS));
  else if (dice < 0.35) slot.replace(quoted(random.pick(STRINGS)));
  else if (dice < 0.5) useWord(slots, random);
  else if (dice < 0.6) slot.remove();
  else if (dice < 0.72) addMember(slots, random);
  else if (dice < 0.78) useSchema(slots, random);
  else if (dice < 0.84) slot.replace(structuredClone(random.pick(slots).node));
  else if (dice < 0.9) slot.duplicate();
  else if (dice < 0.95) slot.replace(raw(String((random.next() - 0.5) * 10 ** random.int(-3, 20))));
  else if (dice < 0.97) slot.replace(quoted(longText(random)));
  else if (dice < 0.985) slot.replace(raw(deepText(random)));
  else for (let copies = random.int(2, random.chance(0.2) ? COPIES_MAX : 50); copies > 0; copies--) slot.duplicate();
}

function useWord(slots: readonly Slot[], random: Random): void {
  const worded = slots.filter(({ name }) => name !== undefined && Object.hasOwn(WORDS, name));
  if (worded.length === 0) return;
  const slot = random.pick(worded);
  slot.replace(quoted(random.pick(WORDS[slot.name ?? ''] ?? [''])));
}

function useSchema(slots: readonly Slot[], random: Random): void {
  const schemas = slots.filter(({ name }) => name !== undefined && SCHEMA_MEMBERS.has(name));
  if (schemas.length > 0) random.pick(schemas).replace(raw(random.pick(SCHEMAS)));
}

function addMember(slots: readonly Slot[], random: Random): void {
  const objects = slots.flatMap(({ node }) => (node.kind === 'object' ? [node] : []));
  if (objects.length === 0) return;
  const { members } = random.pick(objects);
  const name = random.chance(0.8) ? random.pick(NAMES) : random.pick([...STRINGS, 'x'.repeat(3_000)]);
  const value = random.chance(0.5) ? random.pick(SCALARS) : structuredClone(random.pick(slots).node);
  members.splice(random.int(0, members.length), 0, { name, value });
}

function longText(random: Random): string {
  return random.pick(['a', 'word ', '🦊', '\u0000', '\\"', '\ud800']).repeat(random.int(1, STRING_CHARS_MAX / 5));
}

function deepText(random: Random): string {
  const depth = random.chance(0.3) ? DEPTH_MAX : random.int(10, 2_000);
  const [open, close] = random.pick([
    ['[', ']'],
    ['{"a":', '}'],
    ['{"type":"content","content":[', ']}'],
    ['{"properties":{"a":', '}}'],
  ] as const);
  return `${open.repeat(depth)}1${close.repeat(depth)}`;
}

function collectSlots(root: Node): Slot[] {
  const slots: Slot[] = [
    {
      name: undefined,
      node: root,
      replace: (node) => {
        // A body that is no object at all is rare enough: texts are cut and broken elsewhere.
        if (node.kind === 'object' && root.kind === 'object') root.members = [...node.members];
      },
      remove: () => undefined,
      duplicate: () => undefined,
    },
  ];
  collectBelow(root, slots);
  return slots;
}

function collectBelow(node: Node, slots: Slot[]): void {
  if (node.kind === 'object') {
    const { members } = node;
    for (const member of members) {
      slots.push({
        name: member.name,
        node: member.value,
        replace: (value) => void (member.value = value),
        remove: () => void members.splice(members.indexOf(member), 1),
        duplicate: () => void members.push({ ...member }),
      });
      collectBelow(member.value, slots);
    }
  }
  if (node.kind === 'array') {
    const { items } = node;
    for (const [at, item] of items.entries()) {
      slots.push({
        name: undefined,
        node: item,
        replace: (value) => void (items[at] = value),
        remove: () => void items.splice(at, 1),
        duplicate: () => void items.push(item),
      });
      collectBelow(item, slots);
    }
  }
}

function toNode(value: unknown): Node {
  if (Array.isArray(value)) return { kind: 'array', items: value.map(toNode) };
  if (typeof value !== 'object' || value === null) return raw(JSON.stringify(value) ?? 'null');
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return { kind: 'object', members: members.map(([name, member]) => ({ name, value: toNode(member) })) };
}

/** So many copies of so long a text may stand in a body that writing it out would fill the memory. */
const TEXT_CHARS_MAX = 2_000_000;

function render(root: Node): string {
  let left = TEXT_CHARS_MAX;
  function write(node: Node): string {
    if (node.kind === 'raw') {
      left -= node.text.length;
      return left < 0 ? 'null' : node.text;
    }
    left -= 2;
    if (left < 0) return 'null';
    if (node.kind === 'array') return `[${node.items.map(write).join(',')}]`;
    return `{${node.members.map(({ name, value }) => `${JSON.stringify(name)}:${write(value)}`).join(',')}}`;
  }
  return write(root);
}
