import assert from 'node:assert/strict';
import { suite, test } from 'node:test';
import type { Block } from '../../canonical/blocks.ts';
import type { GenerationRequest, Tool, Turn } from '../../canonical/request.ts';
import { classifyTask } from './classify-task.ts';
import { TASK_TAGS } from './task-tags.ts';
import { TASK_PHRASES } from '../data/task-phrases.ts';
import { TASK_KEYWORDS } from '../data/task-keywords.ts';
import { plainDirectives } from '../../../tests/support/plain-directives.ts';

function requestOf(turns: readonly Turn[], more: Partial<GenerationRequest> = {}): GenerationRequest {
  return {
    format: 'chat',
    delivery: 'whole',
    turns,
    tools: [],
    settings: {},
    directives: plainDirectives(),
    warnings: [],
    ...more,
  };
}

const user = (text: string): Turn => ({ role: 'user', blocks: [{ type: 'text', text }] });
const tool = (name: string): Tool => ({ type: 'function', name });
const call = (id: string, name: string, input: object): Block => ({
  type: 'tool-call',
  id,
  name,
  input: JSON.stringify(input),
  runBy: 'caller',
});

/** A request, one call a turn, and its result. */
function transcript(
  userText: string,
  ...uses: readonly (readonly [name: string, input: object, result: string])[]
): Turn[] {
  return [
    user(userText),
    ...uses.flatMap(([name, input, result], index): Turn[] => [
      { role: 'assistant', blocks: [call(`c${index}`, name, input)] },
      {
        role: 'tool',
        blocks: [{ type: 'tool-result', callId: `c${index}`, content: [{ type: 'text', text: result }] }],
      },
    ]),
  ];
}

suite('what a request is about, by its words', () => {
  for (const [text, tag] of [
    ['Write a Python function that merges two sorted lists.', 'code:general_impl'],
    ['Why does this throw TypeError: x is undefined?', 'code:debugging'],
    ['What is the capital of France?', 'qa_knowledge'],
    ['Solve 3x + 4 = 19 for x.', 'math'],
    ['Übersetze bitte ins Englische: Guten Tag', 'translation'],
    ['请把这句话翻译成英文：再见', 'translation'],
    ['この記事を要約してください', 'summarization'],
    ['My order has not arrived, I want a refund', 'customer_support'],
    ['Classify the sentiment of this review: I loved it', 'classification_tagging'],
    ['hi there!', 'conversational_reply'],
    ['', 'other'],
  ] as const)
    test(`classifies ${JSON.stringify(text)} as ${tag}`, () =>
      assert.equal(classifyTask(requestOf([user(text)])).tag, tag));
});

suite('what a request is about, in several languages and by turns of phrase', () => {
  for (const [text, tag] of [
    ['Can you give me a regex-free way to validate IPv4 in Rust?', 'code:general_impl'],
    ['Ecris une classe Java qui gère un pool de connexions', 'code:general_impl'],
    ['npm ERR! code ERESOLVE could not resolve dependency tree', 'code:debugging'],
    ['Make the header sticky and put the logo on the left with tailwind', 'code:frontend_ui'],
    ['How do I delete all branches merged into main from the command line?', 'code:shell_execution'],
    ['SELECT users who have no orders in the last 90 days, Postgres', 'code:sql_database'],
    ['Schreib mir eine docker-compose.yml mit Postgres, Redis und Traefik', 'code:devops_config'],
    ['Our pods keep getting OOMKilled after the deploy, what should we look at?', 'devops'],
    ['Write a GitHub Actions workflow that runs tests on every PR', 'code:devops_config'],
    [
      'Review this PR for security issues:\n```js\napp.get("/x", (q,r)=>r.send(eval(q.query.a)))\n```',
      'code:review_security',
    ],
    ['Plan a three-month roadmap to migrate our monolith to services, with milestones', 'agent:multi_step_planning'],
    ['What happened in the Champions League final yesterday?', 'agent:web_search'],
    [
      'Extract the company names and amounts from this text as JSON: Acme paid 300 to Beta, Gamma owes 40 to Acme.',
      'data:extraction',
    ],
    ['Convert this to YAML: {"a": 1, "b": [1,2]}', 'data:transformation'],
    ['Is this review positive, negative or neutral? "Great food, slow service"', 'classification_tagging'],
    ['Schreibe einen Blogartikel über nachhaltiges Reisen', 'content_writing'],
    ['Écris un poème sur la mer', 'content_writing'],
    ['¿Cuál es la capital de Australia?', 'qa_knowledge'],
    ['Why do leaves turn red in autumn?', 'qa_knowledge'],
    ['ugh my boss yelled at me again today', 'conversational_reply'],
    ['guten Abend! wie geht es dir?', 'conversational_reply'],
    ['You are Grimlock the orc king. I enter your throne room and bow.', 'roleplay_fiction'],
    ['Tell me a bedtime story about a shy dragon', 'roleplay_fiction'],
    ["I never received my parcel, tracking says delivered. I'd like my money back.", 'customer_support'],
    ['Résume ce texte en trois phrases : Le conseil municipal a voté hier le budget…', 'summarization'],
    ['TLDR of this thread please: ...', 'summarization'],
    ['A cinematic photo prompt of a lighthouse in a storm, for Midjourney', 'image_prompting'],
    ['Write a comprehensive report on the state of solid-state batteries with citations', 'research_report'],
    ['Should I put my savings into an index fund or pay off my mortgage?', 'finance_trading'],
    ['What is the Sharpe ratio of a portfolio with 8% return and 12% vol?', 'finance_trading'],
    ['Traduce al inglés: "No hay mal que por bien no venga"', 'translation'],
    ['How do you say "see you tomorrow" in Korean?', 'translation'],
    ['Find all real x with x^2 - 5x + 6 = 0', 'math'],
    ['A bag has 3 red and 5 blue balls. Probability of drawing two red?', 'math'],
    ['¿Cuánto es el 15% de 240?', 'math'],
    ['Draft an incident response plan for a ransomware attack', 'security_audit'],
    ['What are the GDPR implications of logging IP addresses?', 'security_audit'],
    ['hello', 'conversational_reply'],
    ['asdfgh', 'other'],
    ['帮我写一个Python脚本批量重命名文件', 'code:general_impl'],
    ['把下面的表格转换成JSON', 'data:transformation'],
    ['我的快递还没到，怎么退款？', 'customer_support'],
    ['この文章を英語に翻訳してください', 'translation'],
    ['Переведи на английский: доброе утро', 'translation'],
    ['Реши уравнение 2x+3=7', 'math'],
    ['이 코드 왜 오류가 나나요? NullPointerException', 'code:debugging'],
    ['Fasse den folgenden Text in drei Stichpunkten zusammen', 'summarization'],
    ['Remember that I am allergic to nuts', 'agent:memory_extraction'],
    ['Kannst du den Code in src/app.py finden, der die Tokens prüft?', 'code:repo_scan'],
  ] as const)
    test(`classifies ${JSON.stringify(text)} as ${tag}`, () =>
      assert.equal(classifyTask(requestOf([user(text)])).tag, tag));
});

suite('what a request is about, by its structure', () => {
  const FIX = 'Make the tests pass.';
  for (const [title, turns, more, tag] of [
    ['an image is asked for', [user('a cat')], { settings: { modalities: ['image', 'text'] } }, 'image_prompting'],
    [
      'an agent has edited a file',
      transcript(FIX, ['str_replace', { path: 'a.py', old: 'x', new: 'y' }, 'done']),
      {},
      'code:file_read_write',
    ],
    [
      'an agent has met an error',
      transcript(FIX, ['bash', { command: 'pytest' }, 'Traceback (most recent call last):\nValueError: no']),
      {},
      'code:debugging',
    ],
    [
      'an agent looks around',
      transcript(FIX, ['bash', { command: 'ls src' }, 'a.py'], ['grep', { pattern: 'def' }, 'a.py:1: def f()']),
      {},
      'code:repo_scan',
    ],
    ['an agent has searched the web', transcript('Who won?', ['web_search', { q: 'x' }, 'A']), {}, 'agent:web_search'],
    [
      'an agent uses several tools one after the other',
      transcript('Book it and tell Ann.', ['find_slot', {}, '10:00'], ['send_mail', { to: 'ann' }, 'sent']),
      {},
      'agent:workflow_execution',
    ],
    [
      'a coding agent is told what to do before it has done it',
      [user('Run the linter and show me the errors.')],
      { tools: [tool('read_file'), tool('apply_patch'), tool('run_command')] },
      'code:shell_execution',
    ],
    [
      'an agent asks a database',
      transcript('Which category sold best?', ['list_tables', {}, 'a, b'], ['run_sql', { query: 'select 1' }, '1']),
      {},
      'code:sql_database',
    ],
    [
      'an agent serves customers',
      transcript('I got the wrong size.', ['lookup_order', { id: 1 }, 'shirt']),
      {},
      'customer_support',
    ],
    [
      'the user asks for something else after tools were at work',
      [
        ...transcript('Book it.', ['find_slot', {}, '10:00'], ['send_mail', {}, 'sent']),
        user('Now translate "good night" into French.'),
      ],
      {},
      'translation',
    ],
    ['tools are offered', [user('Turn on the lights')], { tools: [tool('set_light')] }, 'agent:tool_dispatch'],
  ] as const satisfies readonly (readonly [string, readonly Turn[], Partial<GenerationRequest>, string])[])
    test(title, () => {
      const found = classifyTask(requestOf(turns, more));
      assert.deepEqual([found.tag, found.source], [tag, 'structure']);
    });
});

suite('keywords', () => {
  test('belong to known tags', () => {
    const known: ReadonlySet<string> = new Set(TASK_TAGS);
    for (const tag of [...Object.keys(TASK_KEYWORDS), ...Object.keys(TASK_PHRASES)]) assert.ok(known.has(tag), tag);
  });

  test('stand once in a list, in lower case', () => {
    for (const [tag, { strong, weak }] of Object.entries(TASK_KEYWORDS)) {
      const all = [...strong, ...weak];
      assert.deepEqual(
        all.filter((keyword, index) => all.indexOf(keyword) !== index || keyword !== keyword.toLowerCase()),
        [],
        tag,
      );
    }
  });
});

test('classifies within milliseconds a text that is made to keep the patterns busy', () => {
  // One pattern that tries each way to cut a row of letters in five takes hours for a thousand of them.
  const pieces = [
    '1',
    '1 ',
    'x',
    'a',
    'a ',
    '!',
    '! ',
    '.',
    ' ',
    '\n',
    '-',
    'test',
    'test ',
    'qwer',
    'asdf ',
    '"',
    '(',
    '1/',
    'e4 ',
    ',',
  ];
  for (const piece of pieces)
    for (const end of ['', 'k', '!', 'é', '\n']) {
      const userText = piece.repeat(Math.ceil(5_000 / piece.length)) + end;
      for (const text of [
        userText,
        userText.slice(-900),
        `Why? ${userText}`,
        `${userText.slice(0, 400)}\n${userText.slice(0, 200)}`,
      ])
        assert.doesNotThrow(() => classifyTask(requestOf([user(text)])));
    }
});
