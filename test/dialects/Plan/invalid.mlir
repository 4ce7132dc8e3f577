// RUN: llmc-opt %s --split-input-file --verify-diagnostics

// expected-error @+1 {{'plan.entry' op has no body}}
plan.entry @main symbols {} {
}

// -----

// expected-error @+1 {{expects a range, array<i64: low, high>, for symbol "N"}}
plan.entry @main symbols {N = array<i64: 8, 1>} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "one" devices [#plan.device<"cpu", cpu>] {
    // expected-note @+1 {{which is here}}
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
  }
  plan.body "other" devices [#plan.device<"cpu", cpu>] {
    // expected-error @+1 {{differs from that of the first body}}
    %x = plan.input 0 "x" : f32 [#graph.expr<"8">]
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "one" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
  }
  // expected-error @+1 {{has 0 outputs, the first body has 1}}
  plan.body "other" devices [#plan.device<"cpu", cpu>] {
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    // expected-error @+1 {{has index 1, but is number 0 of the inputs}}
    %x = plan.input 1 "x" : f32 [#graph.expr<"4">]
  }
}

// -----

plan.entry @main symbols {} {
  // expected-error @+1 {{has 0 devices and 1 queues, expects some of both}}
  plan.body "cpu" devices [] {
  }
}

// -----

plan.entry @main symbols {} {
  // expected-error @+1 {{has a queue on device 1 of 1}}
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] queues [0, 1] {
  }
}

// -----

plan.entry @main symbols {} {
  // expected-error @+1 {{has an arena on device 1 of 1}}
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] arenas [#plan.arena<1, host, align 64>] {
  }
}

// -----

plan.entry @main symbols {} {
  // expected-error @+1 {{alignment 48 is not a power of two}}
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] arenas [#plan.arena<0, host, align 48>] {
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    // expected-error @+1 {{lies in arena 1 of 1}}
    %a = plan.arena f32 [#graph.expr<"4">] in 1
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    // expected-error @+1 {{the symbolic dim M is no dim of any input by itself and not read before, so its value can not be known}}
    %a = plan.arena f32 [#graph.expr<"M">]
  }
}

// -----

plan.entry @main symbols {} {
  // expected-error @+1 {{the symbolic dim M is no dim of any input by itself}}
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] guards [#plan.guard<<"M"> le 8>] {
  }
}

// -----

plan.entry @main symbols {} {
  // expected-error @+1 {{nothing is divisible by 0}}
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] guards [#plan.guard<<"M"> divisible_by 0>] {
  }
}

// -----

// A frame sees its own symbols only.
plan.entry @main symbols {N = array<i64: 1, 8>} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : i1 [#graph.expr<"N">]
    plan.if %x {
      // expected-error @+1 {{uses the symbol N, which its frame does not have}}
      %a = plan.arena f32 [#graph.expr<"N">]
    }
  }
}

// -----

plan.entry @main symbols {N = array<i64: 1, 8>} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : i64 [#graph.expr<"N">]
    // expected-error @+1 {{defines the symbol N a second time}}
    plan.read_scalar %x as "N" range [0, 8]
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    // expected-error @+1 {{runs on queue 1 of 1}}
    plan.barrier on <queue = 1>
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] semaphores 1 {
    // expected-error @+1 {{names semaphore 1 of 1}}
    plan.barrier on <wait = [#plan.point<1, 1>]>
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    // expected-error @+1 {{waits for and signals #plan.point only, got [1]}}
    plan.barrier on <wait = [1]>
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    // expected-note @+1 {{the bytes of this plan.input}}
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    %v = plan.view %x from <"0"> : f32 [#graph.expr<"2">]
    // expected-error @+1 {{writes what is read only}}
    plan.fill %v with 0 of 4
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    // expected-error @+1 {{writes 2 of 1 buffers}}
    plan.dispatch @k(%y) writes 2 scalars []
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    // expected-error @+1 {{repeats 3 bytes, expects 1, 2, 4 or 8}}
    plan.fill %y with 0 of 3
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    // expected-error @+1 {{has a condition of type 'f32', expects i1}}
    plan.if %y {
    }
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : i1 [#graph.expr<"4">]
    // expected-error @+1 {{hands over 4 : i64 as "n", expects #graph.expr}}
    plan.if %y frame {n = 4 : i64} {
    }
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    // expected-error @+1 {{yields 0 buffers for 1 that it carries}}
    plan.loop <"4"> limit 4 carries (%y) from (%y) {
    }
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    %v = plan.view %y from <"8"> : f32 [#graph.expr<"2">]
    // expected-error @+1 {{carries two values in the same bytes}}
    plan.loop <"4"> limit 4 carries (%y, %v) from (%y, %v) {
      plan.yield %y, %v
    }
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %y = plan.output 0 "y" : f32 [#graph.expr<"4">]
    // expected-error @+1 {{has 0 inits for 1 carried buffers}}
    plan.loop <"4"> limit 4 carries (%y) from () {
      plan.yield %y
    }
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    // expected-error @+1 {{counts trips in t, which its frame has already}}
    plan.loop <"4"> limit 4 iteration "t" frame {t = #graph.expr<"4">} {
    }
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : f32 [#graph.expr<"4">]
    // expected-error @+1 {{reads a buffer of type 'f32', expects i32 or i64}}
    plan.read_scalar %x as "n" range [0, 8]
  }
}

// -----

plan.entry @main symbols {} {
  plan.body "cpu" devices [#plan.device<"cpu", cpu>] {
    %x = plan.input 0 "x" : i32 [#graph.expr<"4">]
    // expected-error @+1 {{expects a range [low, high], got [8, 0]}}
    plan.read_scalar %x as "n" range [8, 0]
  }
}
