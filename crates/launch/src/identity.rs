//! Which machine this is, asked while the program runs already: the cloud's metadata service and the driver's own tool.

use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, TryRecvError, channel};

use crate::gpu::Sample;
use crate::instance_metadata::{self, Instance};
use crate::place::Place;

/// A machine, as far as it tells.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Machine {
    /// What its cloud says.
    pub(crate) instance: Instance,
    /// Its name in the cluster.
    pub(crate) node: Option<String>,
    /// Accelerators that the program holds; `None` where nobody tells.
    pub(crate) gpus_held: Option<u64>,
    /// Accelerators in it; `None` where nobody tells, as its type may.
    pub(crate) gpus: Option<u64>,
    /// Their model.
    pub(crate) gpu_kind: Option<String>,
}

impl Machine {
    pub(crate) fn of(instance: Instance, sample: Option<&Sample>, place: &Place) -> Self {
        let seen = sample.map(Sample::count);
        let gpus_held = match (place.gpus, seen) {
            (Some(held), Some(seen)) => Some(held.min(seen)),
            (held, seen) => held.or(seen),
        };
        Self {
            instance,
            node: place.node.clone(),
            gpus_held,
            // Within an allocation the tool shows what was allocated, not what the machine has.
            gpus: seen.filter(|_| place.has_whole_machine()),
            gpu_kind: sample.and_then(Sample::kind).map(str::to_owned),
        }
    }
}

/// Asks the cloud in a thread that nobody waits for: the program's end is not held up by one that does not answer.
#[derive(Debug)]
pub(crate) struct Asked(Receiver<Instance>);

impl Asked {
    pub(crate) fn now(environment: &BTreeMap<String, String>) -> Self {
        let (give, receive) = channel();
        let environment = environment.clone();
        std::thread::spawn(move || {
            // The run may be over by then.
            let _ = give.send(instance_metadata::ask(&environment).unwrap_or_default());
        });
        Self(receive)
    }

    /// What it said, or nothing at all once it is known that it says nothing; `None` while that is open.
    pub(crate) fn answer(&self) -> Option<Instance> {
        match self.0.try_recv() {
            Ok(instance) => Some(instance),
            Err(TryRecvError::Disconnected) => Some(Instance::default()),
            Err(TryRecvError::Empty) => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_that_is_not_there_yet_is_not_waited_for() {
        let (give, receive) = channel();
        let asked = Asked(receive);
        assert_eq!(asked.answer(), None);
        let instance = Instance { id: Some("i-0abc".to_owned()), ..Instance::default() };
        give.send(instance.clone()).unwrap();
        assert_eq!(asked.answer(), Some(instance));
        drop(give);
        assert_eq!(asked.answer(), Some(Instance::default()), "none is to come");
    }
}
