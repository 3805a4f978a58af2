return { deep: [{ big: 10n }] };
//> error: thrown TypeError
