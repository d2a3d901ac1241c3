/** Shows the chosen accent and logo of pages before they are saved. */
import { parseHex } from '../../lib/text/color.ts';

for (const picker of document.querySelectorAll<HTMLInputElement>('input[data-picks]')) {
  const text = document.querySelector<HTMLInputElement>(`input[name="${picker.dataset.picks}"]`);
  picker.addEventListener('input', () => {
    if (text) text.value = picker.value;
  });
  text?.addEventListener('input', () => {
    // For a text that is no colour, the picker shows its first colour again. The text is what counts.
    picker.value = parseHex(text.value.trim()) ?? picker.defaultValue;
  });
}

for (const input of document.querySelectorAll<HTMLInputElement>('input[data-previews]')) {
  const picture = document.getElementById(input.dataset.previews ?? '');
  input.addEventListener('change', () => {
    if (!(picture instanceof HTMLImageElement) || !picture.parentElement) return;
    const place = picture.parentElement;
    place.hidden = true;
    const [file] = input.files ?? [];
    if (!file?.type.startsWith('image/')) return;
    // As a data URL, because the content security policy allows only these and our own pictures.
    const reader = new FileReader();
    reader.addEventListener('load', () => {
      picture.src = String(reader.result);
      place.hidden = false;
    });
    reader.readAsDataURL(file);
  });
}
