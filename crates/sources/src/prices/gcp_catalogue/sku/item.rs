//! What a SKU is the price of, by its description: Google Cloud gives it no other name.

use ledger::{PriceKind, PurchaseOption, ResourceKind};

/// What a SKU prices.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Item {
    pub(super) name: String,
    pub(super) kind: PriceKind,
    pub(super) resource_kind: ResourceKind,
}

/// Words of SKUs that are bought in ways that trainbill does not rate.
const PASSED_OVER: [(&str, &str); 6] = [
    ("commitment", "commitments"),
    ("dws", "dynamic workload scheduler"),
    ("sole tenancy", "sole tenancy"),
    ("custom", "custom machines"),
    ("reserved", "reservations"),
    ("virtual workstation", "virtual workstations"),
];

/// Words between `nvidia` and `gpu`, and the model that they name.
const MODELS: [(&str, &str); 14] = [
    ("a100", "a100"),
    ("a100 80gb", "a100-80gb"),
    ("h100 80gb", "h100"),
    ("h100 80gb mega", "h100-mega"),
    ("h100 80gb plus", "h100-mega"),
    ("h200 141gb", "h200"),
    ("k80", "k80"),
    ("l4", "l4"),
    ("p100", "p100"),
    ("p4", "p4"),
    ("rtx 6000 96gb", "rtx-pro-6000"),
    ("rtx pro 6000 96gb", "rtx-pro-6000"),
    ("t4", "t4"),
    ("v100", "v100"),
];

/// How the descriptions of volumes begin.
const VOLUMES: [(&str, &str); 5] = [
    ("storage pd capacity", "pd-standard"),
    ("balanced pd capacity", "pd-balanced"),
    ("ssd backed pd capacity", "pd-ssd"),
    ("extreme pd capacity", "pd-extreme"),
    ("ssd backed local storage", "local-ssd"),
];

/// What the SKU is the price of, or why it is passed over.
pub(super) fn of(description: &str, usage_type: &str) -> Result<Item, &'static str> {
    let text = description.to_lowercase();
    if usage_type.starts_with("Commit") {
        return Err("commitments");
    }
    if let Some((_, why)) = PASSED_OVER.iter().find(|(words, _)| text.contains(words)) {
        return Err(why);
    }
    let text = ["spot preemptible ", "preemptible ", "spot "]
        .into_iter()
        .find_map(|prefix| text.strip_prefix(prefix))
        .unwrap_or(&text);
    let component = |name: String, resource_kind| Item { name, kind: PriceKind::Component, resource_kind };
    if let Some((_, name)) = VOLUMES.iter().find(|(prefix, _)| text.starts_with(prefix)) {
        return Ok(component((*name).to_owned(), ResourceKind::Disk));
    }
    if let Some(model) = model(text) {
        let (name, kind) = (model.to_owned(), PriceKind::Accelerator);
        return Ok(Item { name, kind, resource_kind: ResourceKind::Compute });
    }
    part_of_host(text)
        .map(|name| component(name, ResourceKind::Compute))
        .ok_or("SKUs that are no part of a GPU machine")
}

/// How it is bought: the description goes before the type, which some spot SKUs have wrong.
pub(super) fn option(description: &str, usage_type: &str) -> PurchaseOption {
    let is_spot = usage_type == "Preemptible" || description.to_lowercase().contains("preemptible");
    if is_spot { PurchaseOption::Spot } else { PurchaseOption::OnDemand }
}

/// The model of a GPU's SKU.
fn model(text: &str) -> Option<&'static str> {
    if text.starts_with("a4 nvidia b200 (1 gpu slice)") {
        return Some("b200");
    }
    let (model, _) = text.strip_prefix("nvidia ")?.split_once(" gpu")?;
    let model = model.strip_prefix("tesla ").unwrap_or(model);
    MODELS.iter().find(|(words, _)| *words == model).map(|(_, model)| *model)
}

/// `a2-core` of `a2 instance core running in …`, `n2d-ram` of `n2d amd instance ram running in …`.
fn part_of_host(text: &str) -> Option<String> {
    let mut words = text.split_whitespace();
    let family = words.next()?;
    let is_family = family.len() >= 2
        && family.starts_with(|c: char| c.is_ascii_lowercase())
        && family.chars().nth(1).is_some_and(|c| c.is_ascii_digit())
        && family.chars().all(|c| c.is_ascii_alphanumeric());
    let rest: Vec<&str> = words.filter(|word| !["predefined", "amd", "arm"].contains(word)).collect();
    match rest.as_slice() {
        ["instance", part @ ("core" | "ram"), "running" | "in", ..] if is_family => {
            Some(format!("{family}-{part}"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn descriptions_name_what_is_priced() {
        let check = |description: &str, expect: Result<&str, &str>| {
            let found = of(description, "OnDemand").map(|item| item.name);
            assert_eq!(found.as_deref().map_err(|why| *why), expect, "{description}");
        };
        check("A2 Instance Core running in Americas", Ok("a2-core"));
        check("N1 Predefined Instance Ram running in Paris", Ok("n1-ram"));
        check("T2D AMD Instance Core running in Singapore", Ok("t2d-core"));
        check("Spot Preemptible A3Plus Instance Core running in Iowa", Ok("a3plus-core"));
        check("Nvidia Tesla A100 GPU running in Americas", Ok("a100"));
        check("Nvidia Tesla A100 80GB GPU running in Americas", Ok("a100-80gb"));
        check("Preemptible Nvidia Tesla T4 GPU running in Iowa", Ok("t4"));
        check("Nvidia H100 80GB Mega GPU running in Americas", Ok("h100-mega"));
        check("A4 Nvidia B200 (1 gpu slice) running in Iowa", Ok("b200"));
        check("SSD backed Local Storage", Ok("local-ssd"));
        check("SSD backed PD Capacity in Iowa", Ok("pd-ssd"));
        check("Nvidia Tesla T4 Virtual Workstation GPU", Err("virtual workstations"));
        check("DWS Calendar Mode A3 Instance Core running in Iowa", Err("dynamic workload scheduler"));
        check("N1 Custom Instance Core running in Iowa", Err("custom machines"));
        check("Commitment v1: A2 Cpu in Americas", Err("commitments"));
        check("Nvidia GB999 GPU running in Iowa", Err("SKUs that are no part of a GPU machine"));
        check("Network Egress via Carrier Peering", Err("SKUs that are no part of a GPU machine"));
    }

    #[test]
    fn a_spot_sku_is_spot_whatever_its_type_says() {
        assert_eq!(option("Spot Preemptible A4 Nvidia B200", "OnDemand"), PurchaseOption::Spot);
        assert_eq!(option("SSD backed Local Storage", "Preemptible"), PurchaseOption::Spot);
        assert_eq!(option("A2 Instance Core", "OnDemand"), PurchaseOption::OnDemand);
    }
}
