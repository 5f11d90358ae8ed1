// What an experiment sets of a central buffer.
#pragma once

#include "banyan/base/types.hpp"

namespace banyan::switching::central_buffer {

enum class Rules : u8 { guarded, guarantee, none };
enum class Bypass : u8 { single_output, unicast, never };
enum class Arbitration : u8 { in_order, per_output, all_at_once };

struct BufferSettings {
  u32 chunks = 256;
  u32 reserve = 0;  ///< chunks of the largest packet that is replicated
  u32 sums = 0;     ///< chunks that are set apart for reductions
  Rules rules = Rules::guarded;
  Bypass bypass = Bypass::single_output;
  /// Worms on their way up are admitted to the buffer as a whole: where they replicate there, and where every worm must
  /// use the buffer. Then those on their way down need space that the others cannot take.
  bool admits_upward = false;
  bool needs_room = false;  ///< an output is idle only when there is room behind it
  bool separate = false;    ///< a next-packet RAM per output, so that one header chunk is enough
  bool synchronous = false;
  Arbitration arbitration = Arbitration::in_order;
};

}  // namespace banyan::switching::central_buffer
