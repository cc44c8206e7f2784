//! The billing rules, each with the figure that it must give.

use super::*;

#[test]
fn linux_is_billed_by_the_second_and_at_least_a_minute_for_each_start() {
    let book = book(vec![on_demand("box", "36")]);
    let check = |runs: &[(i64, i64)], expect: &str| {
        let estimate = rate(&book, &[machine(PurchaseOption::OnDemand, runs)], &[]);
        assert_eq!(usd(&estimate), expect, "{runs:?}");
    };
    check(&[(0, 3600)], "36");
    check(&[(0, 1)], "0.6");
    check(&[(0, 59)], "0.6");
    check(&[(0, 61)], "0.61");
    check(&[(0, 10), (100, 110)], "1.2");
    check(&[(0, 10), (10, 20)], "0.6");
    check(&[(0, 0)], "0.6");
    check(&[], "none");
    let mut broken_second = machine(PurchaseOption::OnDemand, &[(0, 100)]);
    broken_second.stays[0].interval.end.0 += 1;
    let estimate = rate(&book, &[broken_second], &[]);
    assert_eq!(usd(&estimate), "1.01");
    assert_eq!(estimate.lines[1].rule, RatingRule::RoundedUp);
    assert_eq!(estimate.lines[1].billed_micros, SECOND - 1);
}

#[test]
fn a_provider_that_bills_by_the_hour_bills_each_started_hour() {
    let mut row = on_demand("box", "10");
    row.increment = Increment::HOUR;
    let book = book(vec![row]);
    let cost = |runs: &[(i64, i64)]| usd(&rate(&book, &[machine(PurchaseOption::OnDemand, runs)], &[]));
    assert_eq!(cost(&[(0, 1)]), "10");
    assert_eq!(cost(&[(0, 3600)]), "10");
    assert_eq!(cost(&[(0, 3601)]), "20");
    assert_eq!(cost(&[(0, 1), (3000, 3001)]), "20");
}

/// T32: a stopped cluster costs no compute, and its disk ten days.
#[test]
fn a_stopped_machine_bills_nothing_and_its_volume_goes_on() {
    let book = book(vec![on_demand("box", "36"), gp3()]);
    let mut stopped = machine(PurchaseOption::OnDemand, &[(0, 3600)]);
    let ten_days = 3600 + 10 * 86_400;
    stopped.stays.push(Stay { state: MachineState::Stopped, interval: span(3600, ten_days) });
    stopped.stays.push(Stay { state: MachineState::Pending, interval: span(-60, 0) });
    let disk = volume(310, span(3600, ten_days));
    let estimate = rate(&book, &[stopped], &[disk]);
    let rules: Vec<_> = estimate.lines.iter().map(|line| line.rule).collect();
    assert_eq!(rules, [RatingRule::TimeUsed, RatingRule::Stopped, RatingRule::SizeByMonth]);
    assert_eq!(estimate.lines[1].outcome, Outcome::Free);
    // 36, and 310 GiB × 0.08 × 10 of July's 31 days.
    assert_eq!(usd(&estimate), "44");
    assert_eq!(estimate.unpriced().count(), 0);
}

#[test]
fn a_month_of_storage_is_as_long_as_the_month() {
    let book = book(vec![gp3()]);
    let check = |from: (u32, u32), until: (u32, u32), expect: &str| {
        let interval = Interval { start: day(from.0, from.1), end: day(until.0, until.1) };
        assert_eq!(usd(&rate(&book, &[], &[volume(100, interval)])), expect, "{from:?} to {until:?}");
    };
    check((7, 1), (8, 1), "8");
    check((2, 1), (3, 1), "8");
    check((2, 1), (2, 15), "4");
    check((6, 1), (6, 16), "4");
    check((6, 1), (8, 1), "16");
    let decimal = {
        let mut row = gp3();
        row.key.unit = PriceUnit::GigabyteMonth;
        super::book(vec![row])
    };
    let gigabytes = Volume { bytes: 100_000_000_000, ..volume(0, span(0, 31 * 86_400)) };
    assert_eq!(usd(&rate(&decimal, &[], &[gigabytes])), "8");
}

// Trap28.
#[test]
fn linux_spot_that_ec2_takes_back_in_its_first_hour_is_free() {
    let book = book(vec![spot("9", -1_000_000)]);
    let taken = |run: (i64, i64), at: i64| {
        let mut machine = machine(PurchaseOption::Spot, &[run]);
        machine.interruptions = vec![span(at, at).start];
        machine
    };
    let cost = |machine: Machine| usd(&rate(&book, &[machine], &[]));
    assert_eq!(cost(taken((0, 3599), 3599)), "none");
    assert_eq!(cost(taken((0, 3600), 3600)), "9");
    assert_eq!(cost(taken((0, 1800), 1900)), "4.5", "an interruption of another start");
    assert_eq!(cost(machine(PurchaseOption::Spot, &[(0, 1800)])), "4.5", "the user ended it");
    let change = |change: &dyn Fn(&mut MachineWanted)| {
        let mut machine = taken((0, 1800), 1800);
        change(machine.wanted.as_mut().unwrap());
        machine
    };
    let estimate_of = |machine: Machine| rate(&book, &[machine], &[]).unpriced().count();
    assert_eq!(estimate_of(change(&|wanted| wanted.operating_system = "rhel".to_owned())), 1);
    assert_eq!(estimate_of(change(&|wanted| wanted.provider = "gcp".to_owned())), 1);
    let kept = rate(&book, std::slice::from_ref(&taken((0, 3599), 3599)), &[]);
    assert_eq!(kept.lines[0].rule, RatingRule::InterruptedInFirstHour);
    assert_eq!(kept.lines[0].interval, span(0, 3599), "the time is shown");
}

/// T51, T52: a spot price that changes inside the interval, each part at its own price.
#[test]
fn spot_follows_the_history_of_its_price() {
    let book = book(vec![spot("9.10", 0), spot("8.20", 5400), spot("12", 90_000)]);
    let estimate = rate(&book, &[machine(PurchaseOption::Spot, &[(0, 7200)])], &[]);
    let prices: Vec<_> = estimate.lines.iter().map(|line| (line.interval, line.billed_micros)).collect();
    assert_eq!(prices, [(span(0, 5400), 3 * HOUR / 2), (span(5400, 7200), HOUR / 2)]);
    assert_eq!(usd(&estimate), "17.75");
    let before = rate(&book, &[machine(PurchaseOption::Spot, &[(-3600, 3600)])], &[]);
    assert_eq!(usd(&before), "9.1");
    let unpriced: Vec<_> = before.unpriced().map(|line| line.interval).collect();
    assert_eq!(unpriced, [span(-3600, 0)]);
}

/// T35: unpriced, not free.
#[test]
fn what_has_no_price_is_unpriced_and_never_nothing() {
    let book = book(vec![on_demand("other", "1")]);
    let nothing = Machine {
        wanted: Err(Unpriced::UnknownMachine { resource: "i-2".to_owned() }),
        ..machine(PurchaseOption::OnDemand, &[(0, 60)])
    };
    let estimate =
        rate(&book, &[machine(PurchaseOption::OnDemand, &[(0, 60)]), nothing], &[volume(219, span(0, 60))]);
    assert_eq!(estimate.unpriced().count(), 3);
    assert_eq!(estimate.totals().unwrap(), BTreeMap::new());
}

/// T47, O1, O2: two attempts share a machine by their GPUs, and what nobody holds is idle.
#[test]
fn two_attempts_on_one_machine_share_it_and_idle_stands_apart() {
    let book = book(vec![on_demand("box", "10")]);
    let held = |holders: Vec<Holder>| {
        let machine = Machine { holders, ..machine(PurchaseOption::OnDemand, &[(0, 3600)]) };
        borne(&rate(&book, &[machine], &[]))
    };
    let pair = |a: &str, b: &str| vec![(Payer::Attempt(0), a.to_owned()), (Payer::Attempt(1), b.to_owned())];
    assert_eq!(held(vec![holder(0, (0, 3600), (4, 8)), holder(1, (0, 3600), (4, 8))]), pair("5", "5"));
    assert_eq!(
        held(vec![holder(0, (0, 3600), (1, 8))]),
        [(Payer::Attempt(0), "1.25".to_owned()), (Payer::Idle, "8.75".to_owned())]
    );
    assert_eq!(
        held(vec![holder(0, (0, 900), (8, 8)), holder(1, (1800, 2700), (4, 8))]),
        [
            (Payer::Attempt(0), "2.5".to_owned()),
            (Payer::Attempt(1), "1.25".to_owned()),
            (Payer::Idle, "6.25".to_owned())
        ]
    );
    assert_eq!(held(Vec::new()), [(Payer::Idle, "10".to_owned())]);
}

/// O3, O4: a machine at 240 a day is 10 for the hour that a run held it, whatever the window of the list.
#[test]
fn an_hour_of_a_machine_costs_an_hour() {
    let book = book(vec![on_demand("box", "10")]);
    let mut always_on = machine(PurchaseOption::OnDemand, &[(0, 10 * 86_400)]);
    always_on.holders = vec![holder(0, (7200, 10_800), (8, 8))];
    let borne = borne(&rate(&book, &[always_on], &[]));
    assert_eq!(borne, [(Payer::Attempt(0), "10".to_owned()), (Payer::Idle, "2390".to_owned())]);
}

/// T34: the time in which nobody holds a volume stays with its owner.
#[test]
fn an_unattached_volume_stays_with_its_owner() {
    let book = book(vec![gp3()]);
    let month = span(0, 31 * 86_400);
    let held = Volume { holders: vec![holder(1, (0, 86_400), (8, 8))], ..volume(310, month) };
    let estimate = rate(&book, &[], std::slice::from_ref(&held));
    assert_eq!(
        borne(&estimate),
        [(Payer::Attempt(0), "24".to_owned()), (Payer::Attempt(1), "0.8".to_owned())]
    );
    let nobodys = Volume { owner: None, ..held };
    let estimate = rate(&book, &[], &[nobodys]);
    assert_eq!(borne(&estimate), [(Payer::Attempt(1), "0.8".to_owned()), (Payer::Idle, "24".to_owned())]);
}

#[test]
fn currencies_stay_apart() {
    let mut euro = on_demand("box", "10");
    euro.key.currency = "EUR".parse().unwrap();
    let book = book(vec![euro, gp3()]);
    let disk = volume(100, span(0, 31 * 86_400));
    let estimate = rate(&book, &[machine(PurchaseOption::OnDemand, &[(0, 3600)])], &[disk]);
    let totals: Vec<String> =
        estimate.totals().unwrap().iter().map(|(currency, amount)| format!("{amount} {currency}")).collect();
    assert_eq!(totals, ["10 EUR", "8 USD"]);
}
