// nothing to do
/* and nothing
   more */
//> value: undefined
