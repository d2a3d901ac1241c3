import assert from 'node:assert/strict';
import { test } from 'node:test';
import { html, raw } from './html.ts';

test('values are escaped, in text and in attributes; what is markup already, and lists of it, stay', () => {
  const [name, items] = ['<b>"Ada" & \'Co\'</b>', [html`<i>1</i>`, html`<i>2</i>`]];
  assert.equal(
    html`<p title="${name}">${name}${items}${raw('<hr>')}</p>`.text,
    '<p title="&lt;b&gt;&quot;Ada&quot; &amp; &#39;Co&#39;&lt;/b&gt;">&lt;b&gt;&quot;Ada&quot; &amp; &#39;Co&#39;&lt;/b&gt;<i>1</i><i>2</i><hr></p>',
  );
  assert.equal(html`${null}${undefined}${false}${0}${7n}`.text, '07');
});

test('a name that overrides the direction of the text → nothing around it is turned', () => {
  assert.equal(html`<b>${'Ada\u202etpircs\u202c Ltd'}</b>`.text, '<b>Adatpircs Ltd</b>');
  assert.equal(html`<b>${'\u2068مخبز\u2069'}</b>`.text, '<b>\u2068مخبز\u2069</b>', 'an isolate affects nothing else');
  assert.equal(html`${'Ada\u2067\u2066'}: 10 of 200`.text, 'Ada\u2067\u2066\u2069\u2069: 10 of 200', 'if it ends');
  assert.equal(html`\u2068${'a\u2069\u2067b\u2069'}\u2069`.text, '\u2068a\u2067b\u2069\u2069', 'and is its own');
});

test('line breaks beside tags and values are dropped with their indentation; between words they are a space', () => {
  const word = 'two';
  const page = html`
    <ul>
      <li>one</li>
      ${word}
      <li>
        words of
        a sentence
      </li>
    </ul>
  `;
  assert.equal(page.text, '<ul><li>one</li>two<li>words of a sentence</li></ul>');
});

test('html › a space within a line → kept', () => {
  const amount = '5';
  assert.equal(html`<p>${amount} <b>USDC</b> ${amount}</p>`.text, '<p>5 <b>USDC</b> 5</p>');
});

test('attributes may be on separate lines, also if their values contain tag characters', () => {
  const form = html`<form
    method="post"
    title="a > b"
    ${raw('hidden')}
    class="x
      y"
  >
    <input>
  </form>`;
  assert.equal(form.text, '<form method="post" title="a > b" hidden class="x y"><input></form>');
});

test('html › line breaks in values, and in elements that keep their lines → stay as they are', () => {
  const code = 'a\n  b';
  assert.equal(
    html`
      <pre class="code">${code}
  c</pre>
      <textarea>${code}
</textarea>
      <p>${code}</p>`.text,
    '<pre class="code">a\n  b\n  c</pre><textarea>a\n  b\n</textarea><p>a\n  b</p>',
  );
});
