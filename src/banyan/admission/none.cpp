// No admission: every message leaves its source as soon as the network takes it.
#include "banyan/core/admission.hpp"

namespace banyan::admission::none {
namespace {

std::unique_ptr<core::Admission> make(const config::Values&, const core::AdmissionContext&) { return nullptr; }

}  // namespace

extern const core::AdmissionRow row_none;
const core::AdmissionRow row_none{.info = {"none",
                                           "Nothing holds packets back at their source but the network itself",
                                           "the open-loop sources of all five papers",
                                           {}},
                                  .make = &make};

}  // namespace banyan::admission::none
