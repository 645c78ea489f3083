import * as fc from 'fast-check';

/** A JSON value as a model that keeps what JavaScript's objects would lose: order of keys, spelling of numbers and strings. */
export type Model = { raw: string } | { members: [string, Model][] } | { elements: Model[] };

/** One of the ways a file can be written: with lines, or on one line. */
export interface Style { unit: string; eol: string; comma: string; colon: string; bom: boolean; end: string }

/** Writes a model in a style; the same model without a member reads as if the member had never been there. */
export function render(model: Model, style: Style): string {
  return (style.bom ? '\ufeff' : '') + value(model, style, 0) + style.end;
}

function value(model: Model, style: Style, depth: number): string {
  if ('raw' in model) return model.raw;
  const [open, close] = 'members' in model ? ['{', '}'] : ['[', ']'];
  const parts = 'members' in model
    ? model.members.map(([key, inner]) => key + style.colon + value(inner, style, depth + 1))
    : model.elements.map((inner) => value(inner, style, depth + 1));
  if (parts.length === 0) return open + close;
  if (style.unit === '') return open + parts.join(style.comma) + close;
  const line = style.eol + style.unit.repeat(depth + 1);
  return open + line + parts.join(',' + line) + style.eol + style.unit.repeat(depth) + close;
}

export const anyStyle: fc.Arbitrary<Style> = fc.record({
  layout: fc.constantFrom(
    { unit: '  ', comma: ',', colon: ': ' }, { unit: '    ', comma: ',', colon: ': ' }, { unit: '\t', comma: ',', colon: ': ' },
    { unit: '', comma: ',', colon: ':' }, { unit: '', comma: ', ', colon: ': ' },
  ),
  eol: fc.constantFrom('\n', '\r\n'), bom: fc.boolean(), end: fc.constantFrom('', '\n', '\r\n', '\n\n  \n'),
}).map(({ layout, ...rest }) => ({ ...layout, ...rest }));

/** A key or string as JSON text, sometimes spelled with escapes. */
export function spelled(text: string): fc.Arbitrary<string> {
  const escaped = `"${[...text].map((char) => (char.length === 1 ? `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}` : char)).join('')}"`;
  return fc.constantFrom(JSON.stringify(text), JSON.stringify(text), JSON.stringify(text), escaped);
}

const scalar: fc.Arbitrary<Model> = fc.oneof(
  fc.constantFrom('null', 'true', 'false', '0', '1.0', '-0', '12345678901234567890', '1e400', '2.50').map((raw) => ({ raw })),
  fc.string({ unit: 'binary', maxLength: 12 }).map((text) => ({ raw: JSON.stringify(text) })),
  fc.constantFrom('"a\\\\"', '"\\""', '"{[,:]}"', '"\\ud800"').map((raw) => ({ raw })),
);

/** Any JSON value, nested a little; no key twice in one object. */
export const anyModel: fc.Arbitrary<Model> = fc.letrec<{ model: Model }>((tie) => ({
  model: fc.oneof(
    { maxDepth: 3, withCrossShrink: true },
    scalar,
    fc.array(tie('model'), { maxLength: 3 }).map((elements) => ({ elements })),
    fc.uniqueArray(fc.tuple(fc.oneof(fc.constantFrom('__proto__', '1', 'pending', 'last_run', 'targets'), fc.string({ maxLength: 5 })), tie('model')), { maxLength: 3, selector: ([key]) => key })
      .map((members) => ({ members: members.map(([key, inner]): [string, Model] => [JSON.stringify(key), inner]) })),
  ),
})).model;
