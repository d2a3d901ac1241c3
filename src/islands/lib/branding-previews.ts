/** Shows the chosen accent and logo of pages before they are saved, also if they were chosen before this has loaded. */
import { parseHex } from '../../lib/text/color.ts';

for (const picker of document.querySelectorAll<HTMLInputElement>('input[data-picks]')) {
  const text = document.querySelector<HTMLInputElement>(`input[name="${picker.dataset.picks}"]`);
  const follow = () => {
    if (text) text.value = picker.value;
  };
  if (picker.value !== picker.defaultValue && text?.value === text?.defaultValue) follow();
  picker.addEventListener('input', follow);
  text?.addEventListener('input', () => {
    // For a text that is no colour, the picker shows its first colour again. The text is what counts.
    picker.value = parseHex(text.value.trim()) ?? picker.defaultValue;
  });
}

for (const input of document.querySelectorAll<HTMLInputElement>('input[data-previews]')) {
  const picture = document.getElementById(input.dataset.previews ?? '');
  const show = () => {
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
  };
  if (input.files?.length) show();
  input.addEventListener('change', show);
}
