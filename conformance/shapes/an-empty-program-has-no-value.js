//> value: undefined
