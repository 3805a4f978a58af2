const { locale, timeZone } = Intl.DateTimeFormat().resolvedOptions();
return [locale, timeZone, new Intl.NumberFormat().resolvedOptions().locale];
//> value: ["en-US","UTC","en-US"]
