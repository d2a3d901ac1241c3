/** On a phone the navigation scrolls sideways: it begins where the present place is in sight. */
document.querySelector('.places [aria-current]')?.scrollIntoView({ block: 'nearest', inline: 'center' });
