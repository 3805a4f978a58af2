return [99, 600, 204, 599].map(status => { try { return new Response(null, { status }).status; } catch (error) { return error.name; } });
//> value: ["RangeError","RangeError",204,599]
