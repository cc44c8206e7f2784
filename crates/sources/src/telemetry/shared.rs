//! What readers of run records share: conventions, folders, framed files, protobuf, times, samples, and bounded histories of
//! metrics.

pub(in crate::telemetry) mod clock;
pub(in crate::telemetry) mod convention;
pub(in crate::telemetry) mod folder;
pub(in crate::telemetry) mod framed;
pub(in crate::telemetry) mod protobuf;
pub(in crate::telemetry) mod sample;
pub(in crate::telemetry) mod series;
pub(in crate::telemetry) mod whole;
