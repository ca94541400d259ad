import assert from 'node:assert/strict';

export interface Sample {
  readonly name: string;
  readonly labels: Readonly<Record<string, string>>;
  readonly value: number;
}

const COMMENT = /^# (?:HELP [a-zA-Z_:][\w:]* .*|TYPE ([a-zA-Z_:][\w:]*) (?:counter|gauge|histogram|summary|untyped))$/;
const SAMPLE = /^([a-zA-Z_:][\w:]*)(?:\{(.*)\})? (NaN|[+-]?Inf|[-+]?[0-9.]+(?:e[-+]?\d+)?)(?: \d+)?$/i;
const LABEL = /^([a-zA-Z_]\w*)="((?:[^"\\\n]|\\["\\n])*)"(?:,|$)/;

/** Reads Prometheus text strictly: every line is a comment or a sample, and every sample belongs to a type. */
export function parsePrometheus(text: string): Sample[] {
  assert.ok(text.endsWith('\n'));
  const types = new Set<string>();
  const samples: Sample[] = [];
  const seen = new Set<string>();
  for (const line of text.split('\n')) {
    if (line === '') continue;
    if (line.startsWith('#')) {
      const comment = COMMENT.exec(line);
      assert.ok(comment, line);
      if (comment[1] !== undefined) types.add(comment[1]);
      continue;
    }
    const sample = SAMPLE.exec(line);
    assert.ok(sample, line);
    const [, name = '', labels = '', value = ''] = sample;
    assert.ok(types.has(name) || types.has(name.replace(/_(?:bucket|sum|count)$/, '')), `${name} has a type`);
    assert.ok(!seen.has(`${name}{${labels}}`), `${name}{${labels}} stands once`);
    seen.add(`${name}{${labels}}`);
    samples.push({ name, labels: parseLabels(labels), value: Number(value.replace('Inf', 'Infinity')) });
  }
  return samples;
}

function parseLabels(text: string): Record<string, string> {
  const labels: Record<string, string> = {};
  let rest = text;
  while (rest !== '') {
    const label = LABEL.exec(rest);
    assert.ok(label, rest);
    labels[label[1] ?? ''] = label[2] ?? '';
    rest = rest.slice(label[0].length);
  }
  return labels;
}
